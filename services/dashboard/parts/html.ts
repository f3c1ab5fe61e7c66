export type { Html } from '../layout.ts'
