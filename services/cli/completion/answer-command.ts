/** Hidden: the printed scripts call it for what only an installation knows. */
export const ANSWER_COMMAND = '__complete'
