import { expect, test } from 'vitest'
import { type PackedFile, packageFaults } from './package-faults.ts'

const file = (path: string): PackedFile => ({ path, size: 1 })

test('a package has no tests and no sources, and something of each kind', () => {
  const paths = [
    'src/cli/init/http.yaml',
    'src/cli/init.ts',
    'src/cli/init.test.ts',
    'test/run.js',
    'install/image/rootfs.tar',
  ]
  const faults = packageFaults(paths.map(file), 4e6)
  expect(faults.filter((fault) => fault.endsWith('has no place in the package'))).toEqual(
    paths.slice(1).map((path) => `${path} is packed, and has no place in the package`),
  )
  expect(faults).toContain('the archive has 4000000 bytes, more than 3000000')
  expect(faults).toContain('dist/main.js is missing')
  expect(faults).toContain('nothing is packed of: dist')
  expect(faults).not.toContain('nothing is packed of: configurations of init')
})
