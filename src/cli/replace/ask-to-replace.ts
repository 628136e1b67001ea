import net from 'node:net'
import { parseJson } from '#base/parse-json.ts'
import type { Answer, NewProgram } from './messages.ts'

/**
 * Asks the gateway behind a socket to start a program in its place, and waits until it is decided who serves.
 * @returns undefined: no gateway listens there
 */
export function askToReplace(socket: string, program: NewProgram): Promise<Answer | undefined> {
  const { promise, resolve } = Promise.withResolvers<Answer | undefined>()
  const connection = net.connect(socket, () => connection.write(`${JSON.stringify(program)}\n`))
  let text = ''
  connection.setEncoding('utf8')
  connection.on('data', (piece) => {
    text += piece
  })
  connection.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') resolve(undefined)
    else resolve({ kind: 'failed', cause: error.message })
  })
  connection.on('close', () => {
    resolve(text === '' ? { kind: 'failed', cause: 'the running gateway ended' } : (parseJson(text) as Answer))
  })
  return promise
}

/** The program of this process, in its environment. */
export function thisProgram(environment: NodeJS.ProcessEnv): NewProgram {
  return {
    runtime: process.execPath,
    words: [...process.execArgv, ...process.argv.slice(1)],
    folder: process.cwd(),
    environment: Object.fromEntries(
      Object.entries(environment).flatMap(([name, text]) => (text === undefined ? [] : [[name, text]])),
    ),
  }
}
