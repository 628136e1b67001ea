import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { callsTo, type SendCall } from '#idp/setup/idp-call.ts'
import { eventually } from '#test/support/eventually.ts'
import { sampleSize } from '#test/support/sample-size.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'

const PROGRAM = join(import.meta.dirname, '..', '..', 'bin', 'gatewright')
const ROUNDS = sampleSize(1, 3)
/** After how many answers of a round the process is killed, while other requests wait for theirs. */
const ANSWERS = 20

async function startProcess(state: string) {
  const child = spawn(PROGRAM, ['idp', 'serve', '--port', '0', '--realm', 'shop', '--state', state])
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      printed += chunk
    })
  }
  const address = await eventually('the address is printed', () => {
    if (child.exitCode !== null) throw new Error(printed)
    return /address +(?<url>\S+)[\s\S]*Sign in/.exec(printed)?.groups?.url
  })
  const password = /admin, password (?<password>\S+) /.exec(printed)?.groups?.password
  const kill = async () => {
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  return { send: callsTo(new URL(address)), password, kill }
}

async function adminToken(send: SendCall, password: string): Promise<string> {
  const form = { client_id: 'admin-cli', grant_type: 'password', username: 'admin', password }
  const { json } = await send({ method: 'POST', path: '/realms/master/protocol/openid-connect/token', form })
  return (json as { access_token: string }).access_token
}

test('a provider that is killed while it writes keeps all that it has answered, and starts again', async () => {
  const state = temporaryFolder()
  const acknowledged = new Set<string>()
  let password: string | undefined
  for (let round = 0; round <= ROUNDS; round++) {
    const provider = await startProcess(state)
    password ??= provider.password
    const token = await adminToken(provider.send, password!)
    const { json } = await provider.send({ method: 'GET', path: '/admin/realms/shop/clients', token })
    const present = new Set((json as readonly { readonly clientId: string }[]).map(({ clientId }) => clientId))
    expect([...acknowledged].filter((clientId) => !present.has(clientId))).toEqual([])
    if (round < ROUNDS) await createUntilKilled(round, provider.send, token, provider.kill)
    else await provider.kill()
  }
  expect(acknowledged.size).toBeGreaterThanOrEqual(ROUNDS * ANSWERS)

  async function createUntilKilled(round: number, send: SendCall, token: string, kill: () => Promise<void>) {
    let answers = 0
    let killed: Promise<void> | undefined
    const create = async (from: number) => {
      for (let count = 0; killed === undefined; count++) {
        const clientId = `${round}-${from}-${count}`
        const call = { method: 'POST', path: '/admin/realms/shop/clients', token, json: { clientId } } as const
        // Calls that wait when the process ends fail.
        const answer = await send(call).catch((error: unknown) => {
          if (killed === undefined) throw error
        })
        if (answer === undefined) return
        expect(answer.status).toBe(201)
        acknowledged.add(clientId)
        answers++
        if (answers >= ANSWERS) killed ??= kill()
      }
    }
    await Promise.all(Array.from({ length: 8 }, (_, from) => create(from)))
    await killed
  }
})
