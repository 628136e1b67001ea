import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { answerQuestions, startFakeCluster } from '#cluster/examine/testing.ts'
import { gatewright } from '#test/support/command-line.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'

function kubeconfigOf(server: string): string {
  const file = join(temporaryFolder(), 'config')
  const contexts = ['work', 'nowhere'].map((name) => ({ name, context: { cluster: name } }))
  const clusters = [
    { name: 'work', cluster: { server } },
    { name: 'nowhere', cluster: { server: 'http://127.0.0.1:1' } },
  ]
  writeFileSync(file, JSON.stringify({ 'current-context': 'work', contexts, clusters }))
  return file
}

test('check prints a line for each check, and what to do', async () => {
  await using api = await startFakeCluster()
  const kubeconfig = kubeconfigOf(api.address)
  const good = await gatewright(['check'], { KUBECONFIG: kubeconfig })
  expect(good).toMatchObject({ code: 0, stderr: '' })
  expect(good.stdout.split('\n').slice(0, 2)).toEqual([
    `ok       server       ${api.address} is Kubernetes v1.37.2`,
    'ok       server       no webhook decides about objects of the gateway',
  ])
  expect(good.stdout).toMatch(/\n7 checks: 0 failures, 0 warnings, 0 not checked\n$/)
  answerQuestions(api, (right) => right === 'create apps/deployments')
  const bad = await gatewright(['check', '--kubeconfig', kubeconfig, '--controller-namespace', 'elsewhere'])
  expect(bad.code).toBe(1)
  expect(bad.stdout).toContain(
    'FAILURE  permissions  you may not create deployments.apps\n                      let somebody with these rights install the charts\n',
  )
  expect(bad.stdout).toContain('ok       controller   none is installed in elsewhere')
})

test('check prints JSON, and names what does not answer', async () => {
  await using api = await startFakeCluster()
  const kubeconfig = kubeconfigOf(api.address)
  const { code, stdout } = await gatewright(['check', '--kubeconfig', kubeconfig, '-o', 'json'])
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ server: api.address, ok: true, checks: { length: 7 } })
  const none = await gatewright(['check', '--kubeconfig', kubeconfig, '--context', 'nowhere'])
  expect(none.code).toBe(1)
  expect(none.stdout).toContain('FAILURE  server       http://127.0.0.1:1 cannot be read: connection refused')
  expect(await gatewright(['check', '--kubeconfig', kubeconfig, '-o', 'yaml'])).toMatchObject({ code: 2 })
})
