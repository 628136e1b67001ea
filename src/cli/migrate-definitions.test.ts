import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DEFINITIONS, startFakeCluster, storedDefinitions } from '#cluster/examine/testing.ts'
import { gatewright } from '#test/support/command-line.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'

test('definitions migrate says what it would do with each definition', async () => {
  const stored = storedDefinitions().map((definition) =>
    definition.metadata.name.startsWith('proxypolicies')
      ? { ...definition, status: { storedVersions: ['v1alpha0', 'v1alpha1'] } }
      : definition,
  )
  const policies = [{ metadata: { name: 'a', namespace: 'shop' } }]
  await using api = await startFakeCluster({
    [DEFINITIONS]: stored,
    '/apis/gatewright.dev/v1alpha1/proxypolicies': policies,
  })
  const kubeconfig = join(temporaryFolder(), 'config')
  const contexts = [{ name: 'one', context: { cluster: 'one' } }]
  const clusters = [{ name: 'one', cluster: { server: api.address } }]
  writeFileSync(kubeconfig, JSON.stringify({ contexts, clusters }))
  const command = ['definitions', 'migrate', '--kubeconfig', kubeconfig, '--context', 'one', '--dry-run']
  expect(await gatewright(command)).toEqual({
    code: 0,
    stderr: '',
    stdout: [
      'proxybackends.gatewright.dev: all objects are stored as v1alpha1; nothing to do',
      'proxyparameters.gatewright.dev: all objects are stored as v1alpha1; nothing to do',
      'proxypolicies.gatewright.dev: 1 object would be stored as v1alpha1, v1alpha0 would be removed from status.storedVersions',
      '',
    ].join('\n'),
  })
  expect(await gatewright([...command, 'no.example.com'])).toMatchObject({
    code: 1,
    stderr: `gatewright: ${api.address} has no definition no.example.com\n`,
  })
})
