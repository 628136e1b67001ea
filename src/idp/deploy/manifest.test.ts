import { expect, test } from 'vitest'
import { stringify } from 'yaml'
import { manifest } from './manifest.ts'

test('the objects of a deployment, in the order in which they are applied', async () => {
  const objects = manifest({ namespace: 'idp', image: 'keycloak:26', adminPassword: 'secret' })
  const text = objects.map(({ path, object }) => `# ${path}\n${stringify(object, { aliasDuplicateObjects: false })}`)
  await expect(text.join('---\n')).toMatchFileSnapshot('manifest.golden.yaml')
})
