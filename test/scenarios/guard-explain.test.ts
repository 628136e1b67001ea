import { afterAll, beforeAll, expect, test } from 'vitest'
import { gatewright } from '#test/support/command-line.ts'
import { answerJson, type JsonServer, startJsonServer } from '#test/support/json-server.ts'
import {
  backendYaml,
  createObjectsFolder,
  gatewayYaml,
  joinYaml,
  type ObjectsFolder,
  routeYaml,
} from '#test/support/objects-folder.ts'

const stops = new AsyncDisposableStack()
let objects: ObjectsFolder
let judge: JsonServer

beforeAll(async () => {
  judge = stops.use(await startJsonServer())
  const promptGuard = {
    response: [{ regex: { builtins: ['Ssn'] } }],
    request: [
      { regex: { builtins: ['Email'], matches: ['never'] } },
      { regex: { action: 'Reject', matches: ['forbidden'] } },
      { webhook: { backendRef: { group: 'gatewright.dev', kind: 'ProxyBackend', name: 'judge' } } },
    ],
  }
  objects = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(8080),
      backendYaml('judge', judge.port),
      `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: guarded }
spec: ${JSON.stringify({ ai: { provider: { providerOne: {} } }, policies: { ai: { promptGuard } } })}
`,
      routeYaml('guarded', '/', 'guarded'),
    ),
  })
  stops.defer(objects.remove)
})
afterAll(() => stops.disposeAsync())

async function explain(content: string, ...more: readonly string[]): Promise<string> {
  const body = JSON.stringify({
    model: 'm',
    messages: [{ role: 'user', name: 'ann', content }],
    user: 'u-1',
  })
  const url = 'http://localhost:8080/v1/chat/completions'
  const { stdout } = await gatewright(['explain', ...more, '-f', objects.path, '-d', body, url])
  return stdout
}

test('explain shows which strings the guards see, and what each guard finds', async () => {
  judge.seen.length = 0
  const text = await explain('write to a@example.org')
  expect(text).toContain(`
  backend      promptGuard            proceed: guards see 2 strings of the request
      user      messages[0].content
      user      messages[0].name (a match rejects: it cannot be masked)
      unchecked messages[0].role: The provider refuses names of types and roles that it does not know.
      unchecked model: The name of a model or of a tier decides where a request goes; the model does not read it.
`)
  expect(text).toContain(
    '      unchecked user: Metadata for the records of the provider, which the model does not read.\n',
  )
  expect(text).toContain('promptGuard            proceed: promptGuard.request[0], regex, masks by Email\n')
  expect(text).toContain('promptGuard            proceed: promptGuard.request[1], regex, finds nothing\n')
  expect(text).toContain(
    'promptGuard            proceed: webhook default/judge would be asked about 2 texts of the request, 27 characters; without --call, it counts as letting them pass\n',
  )
  expect(text).toContain('          promptGuard.response[0], regex, masks Ssn\n')
  // What the provider would get.
  expect(text).toContain('"content":"write to <EMAIL_ADDRESS>"')
  expect(text).not.toContain('a@example.org')
  expect(judge.seen).toEqual([])
})

test('explain shows the guard that rejects', async () => {
  const text = await explain('this is forbidden')
  expect(text).toContain('promptGuard            refuse: promptGuard.request[1], regex, rejects by matches[0]\n')
  expect(text).toContain(
    'response  403 The request was rejected due to inappropriate content (prompt-guard-rejected: promptGuard.request[1]: regex matches[0])',
  )
  expect(text).not.toContain('this is forbidden')
})

test('explain --call asks the services', async () => {
  judge.answer = (_, response) => answerJson(response, { action: { body: 'not here', status_code: 451 } })
  const rejected = await explain('hello', '--call')
  expect(rejected).toContain(
    'promptGuard            proceed: webhook default/judge is asked about 2 texts of the request, 8 characters\n',
  )
  expect(rejected).toContain('promptGuard            refuse: promptGuard.request[2], webhook, rejects\n')
  expect(rejected).toContain('response  451 not here')
  judge.answer = (_, response) => answerJson(response, {}, 500)
  expect(await explain('hello', '--call')).toContain(
    'promptGuard            refuse: promptGuard.request[2], webhook, fails (the service answered 500)\n',
  )
})

test('explain refuses a body over the limit, as the gateway does', async () => {
  const folder = await createObjectsFolder({ 'body.json': `{"model":"m","messages":[],"x":"${'x'.repeat(2 ** 21)}"}` })
  stops.defer(folder.remove)
  const url = 'http://localhost:8080/v1/chat/completions'
  const { stdout } = await gatewright(['explain', '-f', objects.path, '-d', `@${folder.path}/body.json`, url])
  expect(stdout).toContain('response  413')
  expect(stdout).toContain('body-too-large')
})
