import { z } from 'zod'

/** On the command line of the dashboard: no login. No variable says so. */
export const NO_AUTH_FLAG = '--no-auth'

/** What the dashboard sends over its channel when it listens. */
export const dashboardReadySchema = z.object({
  type: z.literal('ready'),
  dashboard_url: z.url({ protocol: /^http$/ }),
})

/** Asks it over that channel for a login link's ticket. */
export const ticketRequestSchema = z.object({ type: z.literal('issue_ticket') })
export type TicketRequest = z.infer<typeof ticketRequestSchema>

export const dashboardTicketSchema = z.object({
  type: z.literal('ticket'),
  /** Good for one login; null: nobody has to log in. */
  ticket: z.string().nullable(),
  /** For how long. */
  minutes: z.number(),
})
export type DashboardTicket = z.infer<typeof dashboardTicketSchema>
