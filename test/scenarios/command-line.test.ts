import { afterAll, beforeAll, expect, test } from 'vitest'
import { gatewright, gatewrightProcess } from '#test/support/command-line.ts'
import {
  backendYaml,
  createObjectsFolder,
  gatewayYaml,
  joinYaml,
  type ObjectsFolder,
  routeYaml,
} from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

// One of each kind of command runs in a process, and `run` always does: it has to end.

let mistakes: ObjectsFolder

beforeAll(async () => {
  mistakes = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(8080),
      `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyPolicy
metadata: { name: wrong }
spec:
  targetRefs: [{ group: gateway.networking.k8s.io, kind: Gateway, name: main }]
  traffic:
    authorization:
      policy:
        matchExpressions:
          - request.header["x"] == "y"
`,
    ),
  })
})

afterAll(() => mistakes.remove())

test.each(['init', 'run', 'lint', 'explain', 'fields', 'version', 'mcp'])(
  '%s --help describes the command, and exits 0',
  async (command) => {
    const { code, stdout } = await gatewright([command, '--help'])
    expect(code).toBe(0)
    expect(stdout).toContain(`Usage: gatewright ${command}`)
  },
)

test.each(['version', '--version', '-V'])('%s', async (word) => {
  expect(await gatewrightProcess([word])).toEqual({ code: 0, stdout: 'gatewright 0.1.0\n', stderr: '' })
})

test.each([
  ['run', ['GATEWRIGHT_LOG_FORMAT', 'GATEWRIGHT_ACCESS_LOG', 'SESSION_KEY', 'POD_NAME']],
  ['version', ['GATEWRIGHT_TRANSPORT']],
  ...['tail', 'why', 'status', 'top', 'profile'].map((name): [string, string[]] => [name, ['GATEWRIGHT_ADMIN_ADDR']]),
])('%s --help lists the environment variables of the command', async (command, names) => {
  const { stdout } = await gatewright([command, '--help'])
  const listed = stdout.split('Environment variables:\n')[1]?.match(/^ {2}[A-Z_]+$/gm) ?? []
  expect(listed.map((line) => line.trim())).toEqual(expect.arrayContaining(names))
})

test('version --verbose prints the runtime, and the reason for the transport', async () => {
  const runtime = /^gatewright 0\.1\.0\nruntime {4}Node v\d+\.\d+\.\d+, \w+ \w+\ncode {7}(bundle|source)\n/
  const { code, stdout, stderr } = await gatewrightProcess(['version', '--verbose'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(runtime)
  expect(stdout.replace(runtime, '')).toBe('transport  direct\n')
  const forced = await gatewrightProcess(['version', '-v'], { GATEWRIGHT_TRANSPORT: 'streams' })
  expect(forced.stdout.replace(runtime, '')).toBe('transport  streams (chosen by the setting)\n')
})

test('a transport that does not exist is a usage error', async () => {
  expect(await gatewrightProcess(['version', '-v'], { GATEWRIGHT_TRANSPORT: 'fast' })).toEqual({
    code: 2,
    stdout: '',
    stderr: 'gatewright: GATEWRIGHT_TRANSPORT is fast; it must be auto or streams\n',
  })
})

test.each([
  [['nonsense'], "unknown command 'nonsense'"],
  [[], 'Usage: gatewright'],
  [['lint'], 'lint needs a file or folder with objects, such as: gatewright lint -f examples/quickstart'],
  [['run'], 'run needs a file or folder with objects, such as: gatewright run -f examples/quickstart'],
  [['runn', '-f', 'x'], "unknown command 'runn'\n(Did you mean run?)"],
  [['run', '-f', 'examples', '--workers', 'many'], '--workers many must be a number from 1 to 256'],
  [['run', '-f', 'examples', '--bind', 'localhost'], '--bind localhost is not an IP address'],
  [['run', '-f', 'examples', '--address-pool', '10.0.0.0/8'], '10.0.0.0/8 is not inside 127.0.0.0/8'],
  [['lint', 'examples', '--bind', 'localhost'], '--bind localhost is not an IP address'],
  [['lint', 'examples', '--address-pool', '10.0.0.0/8'], '10.0.0.0/8 is not inside 127.0.0.0/8'],
  [['lint', 'examples', '-o', 'xml'], '--output is xml; it must be text, json, sarif or github'],
  [['lint', 'examples', '--fail-on', 'all'], '--fail-on is all; it must be errors, warnings or never'],
  [['explain', '-f', 'examples/quickstart', 'not-a-url'], 'not-a-url is not a URL with scheme http, https, tcp or tls'],
  [['explain', '-f', 'examples/quickstart', 'GET', 'http://a/', 'more'], 'expected [METHOD] URL, got 3 words'],
  [
    ['explain', '-f', 'examples/quickstart', 'http://localhost:8080/', '-H', 'no colon'],
    '-H no colon is not a header field',
  ],
])('%j is a usage error', async (words, message) => {
  const { code, stderr } = await gatewright(words)
  expect(code).toBe(2)
  expect(stderr).toContain(message)
  expect(stderr).not.toMatch(/\n\s+at /)
})

test.each([
  [['--log-format', 'xml'], '--log-format is xml; it must be text or json'],
  [['--log-level', 'loud'], '--log-level is loud: "loud" is not a level; levels are error, warn, info and debug'],
])('%j is a usage error of run', async (words, message) => {
  expect(await gatewright(['run', '-f', mistakes.path, ...words])).toMatchObject({
    code: 2,
    stderr: `gatewright: ${message}\n`,
  })
})

test.each([
  ['GATEWRIGHT_LOG_FORMAT', 'xml', ' is xml; it must be text or json'],
  ['GATEWRIGHT_ADMIN_ADDR', 'here', ' is here; it must be an IP address and a port, such as 127.0.0.1:15000'],
  ['SESSION_KEY', 'abc', ' must be 64 hexadecimal digits'],
  // Others: the tests of the files that read them.
])('run refuses %s=%s with one line', async (name, value, message) => {
  expect(await gatewright(['run', mistakes.path], { [name]: value })).toEqual({
    code: 2,
    stdout: '',
    stderr: `gatewright: ${name}${message}\n`,
  })
})

test('fields prints a field, the kinds, and a suggestion for a wrong path', async () => {
  const field = await gatewright(['fields', 'ProxyPolicy.spec.traffic.timeouts'])
  expect(field).toMatchObject({ code: 0, stderr: '' })
  expect(field.stdout).toMatch(/^ProxyPolicy\.spec\.traffic\.timeouts\n\nTimeouts\.\n/)
  expect((await gatewright(['fields'])).stdout).toMatch(/^ {2}ProxyPolicy +Policies for clients/m)
  expect(await gatewright(['fields', 'ProxyPolicy.spec.trafic'])).toEqual({
    code: 2,
    stdout: '',
    stderr: 'gatewright: ProxyPolicy.spec has no field "trafic"; did you mean ProxyPolicy.spec.traffic?\n',
  })
})

test('lint takes paths as arguments, and with -f', async () => {
  const both = await gatewright(['lint', 'examples/quickstart/gateway.yaml', '-f', 'examples/quickstart/http.yaml'])
  const folder = await gatewright(['lint', 'examples/quickstart'])
  expect(both.stdout).toMatch(/^7 objects: /)
  expect(folder.stdout).toBe('34 objects: nothing to report\n')
})

test('lint of valid objects reports no problems and exits 0', async () => {
  const { code, stdout } = await gatewright(['lint', '-f', 'examples/quickstart'])
  expect(stdout).toBe('34 objects: nothing to report\n')
  expect(code).toBe(0)
})

test('lint -v gives advice as well, and exits 0', async () => {
  const words = ['lint', '-f', 'test/cases/lint/client-fields.yaml']
  expect(await gatewright(words)).toMatchObject({ code: 0, stdout: '4 objects: nothing to report\n' })
  const { code, stdout } = await gatewright([...words, '-v'])
  expect(code).toBe(0)
  expect(stdout).toMatch(/: advice: .* \[rule-on-client-field\]\n/)
  expect(stdout).toMatch(/\n4 objects: no problems, 2 recommendations\n$/)
})

test.each([
  [[], 0],
  [['--fail-on', 'errors'], 0],
  [['--fail-on', 'warnings'], 1],
  [['--fail-on', 'never'], 0],
])('lint %j of objects with one warning exits %i', async (flags, code) => {
  const folder = await createObjectsFolder({ 'all.yaml': backendYaml('echo', 9000) })
  const result = await gatewright(['lint', folder.path, ...flags])
  await folder.remove()
  expect(result.stdout).toMatch(/warning: .* \[no-gateway\]\n/)
  expect(result).toMatchObject({ code, stderr: '' })
})

test('lint -o json, sarif and github report the same problem', async () => {
  const json = await gatewright(['lint', mistakes.path, '-o', 'json'])
  const sarif = await gatewright(['lint', mistakes.path, '-o', 'sarif'])
  const github = await gatewright(['lint', mistakes.path, '-o', 'github'])
  const [problem] = JSON.parse(json.stdout).problems
  expect(problem).toMatchObject({ severity: 'error', object: 'ProxyPolicy default/wrong', line: expect.any(Number) })
  const [result] = JSON.parse(sarif.stdout).runs[0].results
  expect(result).toMatchObject({
    ruleId: problem.code,
    locations: [{ physicalLocation: { region: { startLine: problem.line, startColumn: problem.column } } }],
  })
  expect(github.stdout).toContain(`line=${problem.line},col=${problem.column},title=${problem.code}::`)
  expect([json, sarif, github].map((one) => one.code)).toEqual([1, 1, 1])
})

test('lint --fail-on never exits 0 also with errors', async () => {
  expect((await gatewrightProcess(['lint', mistakes.path])).code).toBe(1)
  expect((await gatewright(['lint', mistakes.path, '--fail-on', 'never'])).code).toBe(0)
})

test('lint and explain assign addresses as run does: two Gateways on one port, each with its own address', async () => {
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(gatewayYaml(8080), gatewayYaml(8080).replace('name: main', 'name: other')),
  })
  const shared = await gatewright(['lint', folder.path])
  const pooled = await gatewright(['lint', folder.path, '--address-pool', '127.10.0.0/16'])
  const flags = ['-f', folder.path, '--address-pool', '127.10.0.0/16']
  const explained = await gatewright(['explain', ...flags, 'http://127.10.0.2:8080/'])
  const bound = await gatewright(['explain', '-f', folder.path, '--bind', '127.0.0.9', 'http://127.0.0.9:1/'])
  await folder.remove()
  expect(shared).toMatchObject({ code: 1 })
  expect(shared.stdout).toContain('[listener-hostname-conflict]')
  expect(pooled).toMatchObject({ code: 0, stdout: '2 objects: nothing to report\n' })
  expect(explained.stdout).toMatch(/^listener +http of Gateway default\/other, HTTP 127\.10\.0\.2:8080/m)
  expect(bound.stdout).toBe('no Gateway listens on port 1; listeners: 127.0.0.9:8080\n')
})

test('lint finds a mistake in an expression with file, line, column, caret and suggestion', async () => {
  const { code, stdout } = await gatewright(['lint', '-f', mistakes.path])
  expect(code).toBe(1)
  expect(stdout).toMatch(/all\.yaml:\d+:\d+: error: spec\.traffic\.authorization\.policy\.matchExpressions\[0\]/)
  expect(stdout).toContain('did you mean request.headers?')
  expect(stdout).toMatch(/\n {4}.*request\.header\["x"\]/)
  expect(stdout).toMatch(/\n {4} *\^\n/)
})

test('lint of a path that does not exist is a finding, not a crash', async () => {
  const { code, stdout } = await gatewright(['lint', '-f', 'no/such/folder'])
  expect(code).toBe(1)
  expect(stdout).toContain('no/such/folder')
})

test('run of a path that does not exist ends at once, and names it', async () => {
  const { code, stderr } = await gatewrightProcess(['run', 'no/such/folder'])
  expect(code).toBe(2)
  expect(stderr).toContain('gatewright: no such file or directory: no/such/folder\n')
})

test('explain shows three levels of policies, those overridden, the steps and the bytes', async () => {
  const { code, stdout } = await gatewrightProcess([
    'explain',
    '-f',
    'examples/quickstart',
    'http://localhost:8080/levels/deep?x=1',
    '-H',
    'X-Tenant: acme',
  ])
  expect(code).toBe(0)
  await expect(stdout).toMatchFileSnapshot('command-line/explain-levels.txt')
})

test('explain says which entry of a conditional policy applies, and why others do not', async () => {
  const conditional = [
    {
      condition: 'request.headers["x-v"] == "1"',
      policy: { request: { set: [{ name: 'x-entry', value: '"first"' }] } },
    },
    { policy: { request: { set: [{ name: 'x-entry', value: '"last"' }] } } },
  ]
  const traffic = { transformation: { conditional } }
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(8080),
      backendYaml('web', 9000),
      routeYaml('all', '/', 'web'),
      policyYaml('choose', 'HTTPRoute', 'all', { traffic }),
    ),
  })
  const { stdout } = await gatewright(['explain', '-f', folder.path, 'http://localhost:8080/'])
  await folder.remove()
  expect(stdout).toContain(`
  post-routing transformation         proceed
      conditional[1] applies
      not conditional[0]: its condition fails: no such key: request.headers.x-v (column 1)
      request.headers["x-v"] == "1"
      ^
`)
  expect(stdout).toContain('  x-entry: last')
})

test('explain takes the path as it was typed, and shows how it is matched', async () => {
  const { code, stdout } = await gatewright([
    'explain',
    '-f',
    'examples/quickstart',
    'http://localhost:8080//%6cevels/d%20é?x=%61',
  ])
  expect(stdout).toContain('path      //%6cevels/d%20%C3%A9 is matched as /levels/d%20%C3%A9\n')
  expect(stdout).toContain('  GET //levels/d%20%C3%A9?x=%61 HTTP/1.1\n')
  expect(code).toBe(0)
  const refused = await gatewright(['explain', '-f', 'examples/quickstart', 'http://localhost:8080/hello/../levels'])
  expect(refused.stdout).toContain('response  400 invalid path (path-invalid: the path has a dot segment)')
  expect(refused.stdout).toContain('\nroute     not reached\n')
  const grpc = ['-H', 'content-type: application/grpc', 'http://localhost:8080/hello/../levels']
  const status = await gatewright(['explain', '-f', 'examples/quickstart', ...grpc])
  expect(status.stdout).toContain('response  200 with grpc-status 13 invalid path (path-invalid')
  expect(refused.code).toBe(1)
})

test.each([
  ['delete', [], 'response  501 not implemented (method-not-implemented)'],
  ['GET', ['-H', 'host: a', '-H', 'host: b'], 'response  400 invalid host (host-invalid)'],
  ['GET', ['-H', 'x-a: \u0001'], 'response  400 malformed request (malformed-request)'],
])('explain of a request that the parser refuses: %s %j', async (method, flags, line) => {
  const { code, stdout } = await gatewright([
    ...['explain', '-f', 'examples/quickstart', method, 'http://localhost:8080/', ...flags],
  ])
  expect([code, stdout]).toEqual([1, `${method} http://localhost:8080/\n\n${line}\n`])
})

test('explain of a refusal names the step that refused, and exits 1', async () => {
  const { code, stdout } = await gatewright([
    'explain',
    '-f',
    'examples/quickstart',
    'POST',
    'http://localhost:8080/keys/x',
  ])
  expect(code).toBe(1)
  expect(stdout).toMatch(/post-routing +apiKeyAuthentication +refuse: api-key-missing/)
  expect(stdout).toContain('response  401 authentication required (api-key-missing)')
})

test.each([
  ['GET', [], 0, '  request: opens the stream of messages of the session'],
  ['POST', ['-d', '{'], 1, '(mcp-message-invalid: the body is not JSON)'],
  ['POST', ['-d', '@README.md'], 1, '(mcp-message-invalid: the body is not JSON)'],
  ['POST', ['-d', '@package.json'], 1, '(mcp-message-invalid'],
  ['PUT', [], 1, 'response  405 method not allowed (method-not-allowed)'],
])('explain of %s to an MCP backend, %o: exit code %i', async (method, flags, expected, line) => {
  const url = 'http://localhost:8080/mcp'
  const { code, stdout } = await gatewright(['explain', '-f', 'examples/quickstart', method, url, ...flags])
  expect(stdout).toContain(line)
  expect(code).toBe(expected)
})

test('explain says which file with a body cannot be read', async () => {
  const { code, stderr } = await gatewright([
    'explain',
    '-f',
    'examples/quickstart',
    '-d',
    '@none',
    'http://localhost:8080/',
  ])
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining("-d @none: ENOENT: no such file or directory, open 'none'"),
  ])
})

test('explain reports that objects have problems, because omitted objects appear nowhere else', async () => {
  const { stderr } = await gatewright(['explain', '-f', mistakes.path, 'http://localhost:8080/'])
  expect(stderr).toBe('gatewright: the objects have 1 error; run gatewright lint to list them\n')
})

test('explain on a port without a listener', async () => {
  const { code, stdout } = await gatewright(['explain', '-f', 'examples/quickstart', 'http://localhost:9/'])
  expect(code).toBe(1)
  expect(stdout).toBe('no Gateway listens on port 9; listeners: 127.0.0.1:8080\n')
})

test('each problem is one line, without control characters of the objects', async () => {
  const folder = await createObjectsFolder({
    'all.yaml': `apiVersion: v1
kind: "Ser\\e[2J\\x9b2Jvice"
metadata: { name: a }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: b }
"x\\nall.yaml:1:1: error: y": 1
`,
  })
  const { stdout } = await gatewright(['lint', '-f', folder.path])
  await folder.remove()
  const lines = stdout.split('\n')
  expect(lines.some((line) => line.includes('Ser\\u001b[2J\\u009b2Jvice'))).toBe(true)
  expect(lines.some((line) => line.includes('x\\u000aall.yaml:1:1: error: y: unknown field'))).toBe(true)
  expect(lines.filter((line) => line.startsWith('all.yaml'))).toEqual([])
})
