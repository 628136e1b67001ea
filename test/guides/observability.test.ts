import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { gatewright } from '#test/support/command-line.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'

test('the policy of the page has no problems with the quickstart', async () => {
  const page = readFileSync('docs/behaviour/observability.md', 'utf8')
  const [, yaml = ''] = /```yaml\n(.*?)```/s.exec(page) ?? []
  const folder = temporaryFolder()
  cpSync('examples/quickstart/gateway.yaml', join(folder, 'gateway.yaml'))
  writeFileSync(join(folder, 'policy.yaml'), yaml)
  const { code, stdout } = await gatewright(['lint', '--fail-on', 'warnings', folder])
  expect([code, stdout]).toEqual([0, expect.stringContaining('nothing to report')])
  const explained = await gatewright(['explain', '-f', folder, 'http://localhost:8080/'])
  expect(explained.stdout).toContain('ProxyPolicy default/observed spec.frontend.tracing')
})
