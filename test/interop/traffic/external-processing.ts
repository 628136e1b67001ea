import { join } from 'node:path'
import type { Echo } from '#examples/upstreams/echo.ts'
import { backendYaml, routeYaml } from '../../support/objects-folder.ts'
import { policyYaml } from '../../support/policy-yaml.ts'
import { builtGoProgram, startPrintingServer } from '../counterparts.ts'
import { type Front, proxyBackend, startFront } from '../front.ts'
import type { Transcript } from '../transcript.ts'

const GO = join(import.meta.dirname, 'go')

/** Body modes by the path that has them. */
const MODES: Readonly<Record<string, string>> = {
  buffered: 'Buffered',
  partial: 'BufferedPartial',
  streamed: 'FullDuplexStreamed',
  headers: 'None',
}

/** External processing by a Go server of the published message types. */
export async function checkExternalProcessing(transcript: Transcript, stops: AsyncDisposableStack): Promise<void> {
  const server = stops.use(await startPrintingServer(builtGoProgram(GO, 'processor'), {}))
  const backendRef = proxyBackend('processor')
  const policed = Object.entries(MODES).flatMap(([name, mode]) => {
    const processingOptions = { requestBodyMode: mode, responseBodyMode: mode }
    return [
      routeYaml(name, `/${name}`, 'echo'),
      policyYaml(name, 'HTTPRoute', name, { traffic: { extProc: { backendRef, processingOptions } } }),
    ]
  })
  const front = await startFront(stops, backendYaml('processor', server.port), ...policed)

  const headers = { 'x-secret': 's', 'x-processed': 'forged' }
  const plain = await front.ask('/headers/a?b=c', { headers })
  const { headers: seen } = (await plain.json()) as Echo
  transcript.check(
    'headers of the request: set, replaced, removed',
    [seen['x-processed'], seen['x-secret']],
    ['GET /headers/a?b=c', undefined],
  )
  transcript.check(
    'headers of the response',
    [plain.headers.get('x-seen-status'), plain.headers.has('x-served-by')],
    ['200', false],
  )

  for (const [name, mode] of Object.entries(MODES)) {
    if (mode === 'None') continue
    transcript.check(`${mode}: bodies unchanged`, await echoed(front, `/${name}/as-is`, 'the body'), 'the body')
    transcript.check(`${mode}: bodies changed`, await echoed(front, `/${name}/upper`, 'the body'), 'THE BODY')
    const stopped = await front.ask(`/${name}/stop`, { method: 'POST', body: 'the body' })
    const answer = [stopped.status, stopped.headers.get('x-why'), await stopped.text()]
    transcript.check(`${mode}: an immediate response`, answer, [418, 'teapot', 'stopped here\n'])
  }
  const large = 'x'.repeat(1_000_000)
  transcript.check('a streamed body of 1 MB', (await echoed(front, '/streamed/as-is', large))?.length, large.length)
  const refused = await front.ask('/buffered/as-is', { method: 'POST', body: large })
  transcript.check('a buffered body of 1 MB is refused', refused.status, 413)

  await server[Symbol.asyncDispose]()
  const gone = await front.ask('/headers')
  transcript.check('without the server', [gone.status, await gone.text()], [500, 'ext_proc failed'])
}

/** The body that the backend received, as the client reads it in the answer. */
async function echoed(front: Front, path: string, body: string): Promise<string | undefined> {
  const response = await front.ask(path, { method: 'POST', body })
  const text = await response.text()
  try {
    // The answer may be in upper case as a whole.
    const answer = JSON.parse(text) as Partial<Echo> & { readonly BODY?: string }
    return answer.body ?? answer.BODY
  } catch {
    return `${response.status} ${text}`
  }
}
