import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Answered, Asked } from './client.ts'

/** A client in a process of its own. */
export interface Client extends Disposable {
  /** @returns when the answer was there, `now()` */
  ask(asked: Asked): Promise<number>
}

/** The working directory is the root of the project. */
export function startClient(kubeconfig: string): Client {
  const child = fork(join(process.cwd(), 'bench/config/client.ts'), [kubeconfig])
  return {
    async ask(asked) {
      child.send(asked)
      const [{ atMs }] = (await once(child, 'message')) as [Answered]
      return atMs
    },
    [Symbol.dispose]: () => void child.kill(),
  }
}
