import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from './support/temporary-folder.ts'

const ROOT = join(import.meta.dirname, '..')
/** In place of the program. */
const SHOW = 'console.log(JSON.stringify({ runtime: process.execPath, words: process.argv.slice(2) }))'
const OLD_NODE = `Object.defineProperty(process, 'version', { value: 'v20.1.0' })
Object.defineProperty(process, 'versions', { value: { node: '20.1.0' } })`

/** A folder as a package manager makes it, with what starts the program in a path with a space. @returns the folder of the package */
function installed(files: Readonly<Record<string, string>> = {}): string {
  const folder = join(temporaryFolder(), 'a project', 'node_modules', 'gatewright')
  cpSync(join(ROOT, 'bin'), join(folder, 'bin'), { recursive: true })
  cpSync(join(ROOT, 'package.json'), join(folder, 'package.json'))
  for (const [path, text] of Object.entries({ 'dist/main.js': SHOW, ...files })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return folder
}

function start(folder: string, words: readonly string[]): { code: number | null; stdout: string; stderr: string } {
  const [program, ...before] = words
  const { status, stdout, stderr } = spawnSync(program!, [...before, 'run', 'a b'], {
    encoding: 'utf8',
    env: { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, HOME: folder },
  })
  return { code: status, stdout, stderr }
}

/** Makes the runtime that a package manager would install there. @returns its path */
function installRuntime(modules: string): string {
  const { optionalDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const name = Object.keys(optionalDependencies).find((one) => one.endsWith(`${process.platform}-${process.arch}`))
  const path = join(modules, name!, 'bin', 'node')
  mkdirSync(dirname(path), { recursive: true })
  symlinkSync(process.execPath, path)
  return path
}

test.each([
  ['beside the package', '..'],
  ['below the package', 'node_modules'],
])('the pinned runtime %s runs the program', (_, modules) => {
  const folder = installed()
  installRuntime(join(folder, modules))
  // A runtime says where its file is, which a link only leads to.
  const old = join(folder, 'old.cjs')
  writeFileSync(old, OLD_NODE)
  for (const words of [
    [join(folder, 'bin', 'gatewright')],
    [process.execPath, '-r', old, join(folder, 'bin', 'gatewright')],
  ]) {
    const { code, stdout, stderr } = start(folder, words)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(JSON.parse(stdout)).toEqual({ runtime: process.execPath, words: ['run', 'a b'] })
  }
})

test('without the pinned runtime, the Node of the machine runs the program', () => {
  const folder = installed()
  const { code, stdout } = start(folder, [join(folder, 'bin', 'gatewright')])
  expect({ code, words: JSON.parse(stdout).words }).toEqual({ code: 0, words: ['run', 'a b'] })
})

test.each<[what: string, files: Record<string, string>, message: string]>([
  [
    'an installation',
    {},
    'gatewright: needs Node 24 or later, this is v20.1.0; an installation without --omit=optional brings the right one\n',
  ],
  [
    'a checkout',
    { 'src/main.ts': '', 'node_modules/yaml/index.js': '' },
    'gatewright: needs Node 24 or later, this is v20.1.0; `npm ci` without --omit=optional brings the right one\n',
  ],
  [
    'a checkout without dependencies',
    { 'src/main.ts': '' },
    'gatewright: the dependencies are missing; run `npm ci` in the checkout first\n',
  ],
])('an old Node refuses to run the program of %s', (_, files, message) => {
  const folder = installed({ 'old.cjs': OLD_NODE, ...files })
  const words = [process.execPath, '-r', join(folder, 'old.cjs'), join(folder, 'bin', 'gatewright')]
  expect(start(folder, words)).toEqual({ code: 2, stdout: '', stderr: message })
})
