import { z } from 'zod'

/** On the command line of the dashboard: no login. No variable says so. */
export const NO_AUTH_FLAG = '--no-auth'

/** What the dashboard sends over its channel when it listens. */
export const dashboardReadySchema = z.object({
  type: z.literal('ready'),
  dashboard_url: z.url({ protocol: /^http$/ }),
})
