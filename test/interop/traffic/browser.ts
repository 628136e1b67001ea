import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { backendYaml, routeYaml } from '../../support/objects-folder.ts'
import { policyYaml } from '../../support/policy-yaml.ts'
import { installedNpmPackages, installedProgram } from '../counterparts.ts'
import { startFront } from '../front.ts'
import type { Transcript } from '../transcript.ts'

/** What is used of the package `playwright-core`. */
interface Chromium {
  launch(options: object): Promise<Browser>
}
interface Browser {
  newContext(): Promise<Context>
  close(): Promise<void>
}
interface Context {
  addCookies(cookies: readonly object[]): Promise<void>
  newPage(): Promise<Page>
}
interface Page {
  goto(url: string): Promise<unknown>
  /** Evaluates an expression in the page, and waits for its promise. */
  evaluate(expression: string): Promise<unknown>
  setContent(html: string): Promise<void>
  waitForResponse(url: string): Promise<{ status(): number }>
}

/** Without them Chromium looks for servers of its maker. */
const QUIET = ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run']

/** The server of all pages, also behind the gateway. It records what reaches it. */
async function startSite(stops: AsyncDisposableStack) {
  const seen: string[] = []
  const server = createServer((request, response) => {
    request.resume()
    if (request.url === '/page') return void response.setHeader('content-type', 'text/html').end('<title>page</title>')
    seen.push(`${request.method} ${request.url}`)
    response.setHeader('content-type', 'application/json').setHeader('x-shown', 'yes').setHeader('x-hidden', 'yes')
    response.end(JSON.stringify({ cookie: request.headers.cookie ?? '', app: request.headers['x-app'] ?? '' }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, seen }
}

async function startChromium(stops: AsyncDisposableStack): Promise<Browser> {
  const executablePath = installedProgram('chromium', 'chromium')
  const folder = installedNpmPackages('npm-browser', 'playwright-core@1.65.1')
  const { chromium } = createRequire(join(folder, 'package.json'))('playwright-core') as { readonly chromium: Chromium }
  const args = [
    ...QUIET,
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--host-resolver-rules=MAP *.test 127.0.0.1',
  ]
  const browser = await chromium.launch({ executablePath, args })
  stops.defer(() => browser.close())
  return browser
}

/**
 * CORS and CSRF as Chromium applies them, with pages of three origins: that of the gateway, another one of the same site, and one of another
 * site. Chromium sends `Sec-Fetch-Site` to `*.localhost` (it trusts these names without TLS), but not to `*.test`.
 */
export async function checkBrowser(transcript: Transcript, stops: AsyncDisposableStack): Promise<void> {
  const browser = await startChromium(stops)
  const site = await startSite(stops)
  const origins = (domain: string) => ({
    app: `http://app.shop.${domain}:${site.port}`,
    evil: `http://evil.${domain}:${site.port}`,
  })
  const { app, evil } = origins('localhost')
  const plain = origins('test')
  const cors = {
    allowOrigins: [app],
    allowCredentials: true,
    allowMethods: ['GET', 'PUT'],
    allowHeaders: ['x-app', 'x-api-key'],
    exposeHeaders: ['x-shown'],
    maxAge: 600,
  }
  const keys = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'keys' },
    stringData: { one: JSON.stringify({ key: 'k3y' }) },
  }
  const policed = (name: string, traffic: object) =>
    `${routeYaml(name, `/${name}`, 'site')}---${policyYaml(name, 'HTTPRoute', name, { traffic })}`
  const front = await startFront(
    stops,
    backendYaml('site', site.port),
    routeYaml('page', '/page', 'site'),
    policed('cors', { cors }),
    policed('keys', {
      cors,
      apiKeyAuthentication: { secretRef: { name: 'keys' }, location: { header: { name: 'X-Api-Key' } } },
    }),
    policed('any', { cors: { allowOrigins: ['*'] } }),
    policed('csrf', { csrf: { additionalOrigins: [app, plain.app] } }),
    `\n${JSON.stringify(keys)}\n`,
  )
  const gateway = (domain: string) => `http://api.shop.${domain}:${front.port}`
  const api = gateway('localhost')
  const context = await browser.newContext()
  await context.addCookies(
    ['session', 'strict'].map((name) => ({
      ...{ name, value: 's', domain: 'api.shop.localhost', path: '/' },
      ...(name === 'session' ? { sameSite: 'None', secure: true } : { sameSite: 'Strict' }),
    })),
  )
  const pageAt = async (origin: string) => {
    const page = await context.newPage()
    await page.goto(`${origin}/page`)
    return page
  }
  const onApp = await pageAt(app)
  const onEvil = await pageAt(evil)
  const onApi = await pageAt(api)

  const both = 'session=s; strict=s'
  transcript.check('a script of an allowed origin reads, with cookies', await read(onApp, `${api}/cors/a`, INCLUDE), {
    ...{ status: 200, body: { cookie: both, app: '' } },
    headers: { 'x-shown': 'yes', 'x-hidden': null },
  })
  const put = { ...INCLUDE, method: 'PUT', headers: { 'x-app': 'one' }, body: '{}' }
  for (let i = 0; i < 2; i++) {
    transcript.check(`a PUT after a preflight (${i + 1})`, bodyOf(await read(onApp, `${api}/cors/put`, put)), {
      ...{ cookie: both, app: 'one' },
    })
  }
  for (const [what, init] of [
    ['a method that is not allowed', { ...INCLUDE, method: 'DELETE' }],
    ['a header that is not allowed', { ...INCLUDE, headers: { 'x-other': 'one' } }],
  ] as const) {
    const before = site.seen.length
    transcript.check(what, await read(onApp, `${api}/cors/no`, init), BLOCKED)
    transcript.check(`${what} never reaches the backend`, site.seen.length, before)
  }
  transcript.check('a script of another site reads nothing', await read(onEvil, `${api}/cors/a`, INCLUDE), BLOCKED)
  transcript.check('its PUT never reaches the backend', await putFrom(onEvil, `${api}/cors/evil`, site.seen), [])
  const key = { ...INCLUDE, headers: { 'x-api-key': 'k3y' } }
  transcript.check('a preflight needs no key', statusOf(await read(onApp, `${api}/keys/a`, key)), 200)
  transcript.check('a script reads a refusal', statusOf(await read(onApp, `${api}/keys/a`, INCLUDE)), 401)
  transcript.check('any origin: without cookies', bodyOf(await read(onEvil, `${api}/any`, {})), { cookie: '', app: '' })
  transcript.check('any origin: not with cookies', await read(onEvil, `${api}/any`, INCLUDE), BLOCKED)

  for (const domain of ['localhost', 'test']) {
    const sent = domain === 'localhost' ? 'with Sec-Fetch-Site' : 'with Origin only'
    const target = `${gateway(domain)}/csrf/${domain}`
    const pages = {
      'the own origin': domain === 'localhost' ? onApi : await pageAt(gateway(domain)),
      'an additional origin': domain === 'localhost' ? onApp : await pageAt(plain.app),
      'another site': domain === 'localhost' ? onEvil : await pageAt(plain.evil),
    }
    const allowed: Readonly<Record<string, number>> = { 'the own origin': 200, 'an additional origin': 200 }
    for (const [whose, page] of Object.entries(pages)) {
      const expected = allowed[whose] ?? 403
      transcript.check(`${sent}, a script of ${whose}`, await posted(page, `${target}/s`, site.seen), expected === 200)
      transcript.check(`${sent}, a form of ${whose}`, await submitted(page, target), expected)
    }
    const opaque = await context.newPage()
    await opaque.goto('data:text/html,')
    transcript.check(`${sent}, a form of an opaque origin`, await submitted(opaque, target), 403)
    const link = await pageAt(domain === 'localhost' ? evil : plain.evil)
    const followed = async () => {
      const [response] = await Promise.all([
        link.waitForResponse(target),
        link.evaluate(`void (location = '${target}')`),
      ])
      return response.status()
    }
    transcript.check(`${sent}, a link of another site`, await followed(), 200)
  }
  // By now the lines of both workers are written.
  const preflights = linesOf(front.gateway.output.stdout, 'OPTIONS', '/cors/put')
  transcript.check('the browser remembered the preflight', preflights.length, 1)
}

const INCLUDE = { credentials: 'include' }
/** `fetch` rejects: the page learns nothing. */
const BLOCKED = 'TypeError'

interface Read {
  readonly status: number
  readonly body: unknown
  readonly headers: Readonly<Record<string, string | null>>
}

/** What a script of the page sees of an answer, or the name of the error. */
async function read(page: Page, url: string, init: object): Promise<Read | string> {
  const expression = `fetch(${JSON.stringify(url)}, ${JSON.stringify(init)}).then(
    async (answer) => {
      const text = await answer.text()
      const headers = Object.fromEntries(['x-shown', 'x-hidden'].map((name) => [name, answer.headers.get(name)]))
      return { status: answer.status, body: answer.ok ? JSON.parse(text) : text, headers }
    },
    (error) => error.name,
  )`
  return (await page.evaluate(expression)) as Read | string
}

const bodyOf = (answer: Read | string) => (typeof answer === 'string' ? answer : answer.body)
const statusOf = (answer: Read | string) => (typeof answer === 'string' ? answer : answer.status)

/** What a PUT adds to what the backend has seen. */
async function putFrom(page: Page, url: string, seen: readonly string[]): Promise<readonly string[]> {
  const before = seen.length
  await read(page, url, { method: 'PUT', body: '{}' })
  return seen.slice(before)
}

/** A request that needs no preflight and whose answer no script can read. @returns whether it reached the backend */
async function posted(page: Page, url: string, seen: readonly string[]): Promise<boolean> {
  const before = seen.length
  const init = JSON.stringify({ method: 'POST', mode: 'no-cors', body: 'a=b', credentials: 'include' })
  await page.evaluate(`fetch(${JSON.stringify(url)}, ${init}).then(() => true)`)
  return seen.length > before
}

const FORM = (target: string) => `<form method="post" action="${target}"><input name="a" value="b"></form>`
/** The status of the answer to a form of a page. */
async function submitted(page: Page, target: string): Promise<number> {
  await page.setContent(FORM(target))
  const [answer] = await Promise.all([page.waitForResponse(target), page.evaluate('document.forms[0].submit()')])
  return answer.status()
}

/** Lines of the access log. */
function linesOf(log: string, method: string, path: string): readonly string[] {
  return log.split('\n').filter((line) => line.includes(method) && line.includes(path))
}
