import { readConfig, withDotEnv } from '../../shared/config.ts'
import { chooseSandbox } from './sandbox/choose-sandbox.ts'

/** A program of its own, for `astra doctor`: prints why tests would be refused, or nothing. */
const config = readConfig(withDotEnv(process.env))
const problem = await chooseSandbox(config, []).problem()
process.stdout.write(problem ?? '')
