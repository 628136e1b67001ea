import { chmodSync, lstatSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { gatewright } from '#test/support/command-line.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'

const BACKEND = `# A backend.
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata:
  name: web
spec:
  static:
    hosst: 127.0.0.1   # here
    port: "9000"
`
const FIXED = BACKEND.replace('hosst', 'host').replace('"9000"', '9000')

function folderWith(text: string): { readonly folder: string; readonly file: string } {
  const folder = temporaryFolder()
  const file = join(folder, 'a.yaml')
  writeFileSync(file, text)
  return { folder, file }
}

test('--fix changes the file and says what it changed; the second run changes nothing', async () => {
  const { folder, file } = folderWith(BACKEND)
  chmodSync(file, 0o640)
  const first = await gatewright(['lint', folder, '--fix', '--fail-on', 'errors'])
  expect(readFileSync(file, 'utf8')).toBe(FIXED)
  expect(statSync(file).mode & 0o777).toBe(0o640)
  expect(readdirSync(folder)).toEqual(['a.yaml'])
  expect(first).toMatchObject({ code: 0, stderr: '' })
  expect(first.stdout.split('\n').slice(0, 3)).toEqual([
    `${file}:8:5: fixed: spec.static.hosst: renamed hosst to host`,
    `${file}:9:11: fixed: spec.static.port: removed the quotes`,
    '2 corrections made',
  ])
  const { mtimeMs } = statSync(file)
  const second = await gatewright(['lint', folder, '--fix'])
  expect(second.stdout).toMatch(/^0 corrections made\n/)
  expect(statSync(file).mtimeMs).toBe(mtimeMs)
})

test('--dry-run shows a diff and changes nothing', async () => {
  const { folder, file } = folderWith(BACKEND)
  const { code, stdout } = await gatewright(['lint', folder, '--fix', '--dry-run'])
  expect(readFileSync(file, 'utf8')).toBe(BACKEND)
  expect(code).toBe(1)
  expect(stdout).toContain(`--- ${file}
+++ ${file}
@@ -8,2 +8,2 @@
-    hosst: 127.0.0.1   # here
-    port: "9000"
+    host: 127.0.0.1   # here
+    port: 9000
2 corrections possible; nothing was changed
`)
})

test('a diff shows no secrets', async () => {
  const secret = 'apiVersion: v1\nkind: Secret\nmetadata: { name: s }\nstringData: { pin: 1234, other: "abcdefgh" }\n'
  const key = `apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: llm }
spec: { ai: { groups: [{ providers: [{ name: a, providerOne: {} }] }] }, policies: { aut: { key: inline-secret-key } } }
`
  const { folder } = folderWith(`${secret}---\n${key}`)
  const { stdout } = await gatewright(['lint', folder, '--fix', '--dry-run'])
  expect(stdout).toContain('@@ -4 +4 @@\n-<redacted>\n+<redacted>\n')
  expect(stdout).toContain('policies: { auth: { key: <redacted> } }')
  expect(stdout).not.toMatch(/1234|abcdefgh|inline-secret-key/)
})

test('-o json has the corrections', async () => {
  const { folder, file } = folderWith(BACKEND)
  const { stdout } = await gatewright(['lint', folder, '--fix', '-o', 'json'])
  expect(JSON.parse(stdout)).toMatchObject({
    dryRun: false,
    fixes: [
      { file, line: 8, column: 5, object: 'ProxyBackend default/web', path: 'spec.static.hosst' },
      { file, line: 9, column: 11, message: 'removed the quotes' },
    ],
  })
})

test('a link stays a link, and a file that is not UTF-8 stays as it is', async () => {
  const { folder, file } = folderWith(BACKEND)
  const links = temporaryFolder()
  symlinkSync(file, join(links, 'link.yaml'))
  const latin = join(folder, 'latin.yaml')
  const bytes = Buffer.concat([Buffer.from('# '), Buffer.of(0xe4), Buffer.from(`\n${BACKEND}`)])
  writeFileSync(latin, bytes)
  await gatewright(['lint', links, folder, '--fix'])
  expect(lstatSync(join(links, 'link.yaml')).isSymbolicLink()).toBe(true)
  expect(readFileSync(file, 'utf8')).toBe(FIXED)
  expect(readFileSync(latin)).toEqual(bytes)
})

test.each([
  [['--dry-run', '.'], '--dry-run needs --fix'],
  [['--fix', '--server', 'https://a'], '--fix corrects files, so it cannot be combined with --server or --kubeconfig'],
  [['--fix', '-o', 'sarif', '.'], '--fix cannot be combined with --output sarif'],
])('lint %j is a usage error', async (words, message) => {
  expect(await gatewright(['lint', ...words])).toEqual({ code: 2, stdout: '', stderr: `gatewright: ${message}\n` })
})
