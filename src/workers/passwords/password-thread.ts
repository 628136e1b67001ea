import { constants, setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { checkHash } from './check-hash.ts'

/** Entry of the thread that checks passwords for one proxy worker, one after the other. */

/** A password, and the hash to compare it with. */
export interface PasswordQuestion {
  readonly password: string
  readonly hash: string
}

// On Linux, a thread has its own priority. This one yields to the threads that serve requests.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL)

parentPort!.on('message', ({ password, hash }: PasswordQuestion) => parentPort!.postMessage(checkHash(password, hash)))
