import { sectionLinks } from '../layout.ts'
import { assetUrl } from '../static-files.ts'

/** bull-board's page as one of ours: with the ways to the other sections, and no fonts from elsewhere. */
export async function ownBoardPage(given: string): Promise<string> {
  const links = String(await sectionLinks('queues'))
  return given
    .replace(/<link [^>]*fonts\.googleapis\.com[^>]*>/g, '')
    .replace('</head>', () => `<link rel="stylesheet" href="${assetUrl('board.css')}"></head>`)
    .replace(/<body[^>]*>/, (body) => `${body}${links}`)
}
