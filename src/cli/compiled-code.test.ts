import { spawnSync } from 'node:child_process'
import { existsSync, globSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { temporaryFolder } from '#test/support/temporary-folder.ts'

/** A folder that cannot be made. */
const UNUSABLE = join(import.meta.filename, 'compiled')

/** Runs a module after the call, and the same module in a worker. @returns files with compiled code in the state folder */
function filesAfter(state: string, environment: NodeJS.ProcessEnv): readonly string[] {
  const program = join(temporaryFolder(), 'program.mjs')
  const lines = [
    "import { Worker } from 'node:worker_threads'",
    `import { keepCompiledCode } from ${urlOf('compiled-code.ts')}`,
    `keepCompiledCode(${JSON.stringify(state)})`,
    `await import(${urlOf('exit-code.ts')})`,
    `new Worker(new URL(${urlOf('usage-error.ts')}))`,
  ]
  writeFileSync(program, lines.join('\n'))
  const env = { ...process.env, NODE_COMPILE_CACHE: undefined, NODE_DISABLE_COMPILE_CACHE: undefined, ...environment }
  const { status, stderr } = spawnSync(process.execPath, [program], { env, encoding: 'utf8' })
  expect(stderr).toBe('')
  expect(status).toBe(0)
  return globSync('compiled/*/*', { cwd: state })
}

/** Of a module beside this one, as a literal. */
function urlOf(name: string): string {
  return JSON.stringify(pathToFileURL(join(import.meta.dirname, name)).href)
}

test('compiled code is kept in the state folder if no other folder can be written, also that of workers', () => {
  const state = join(temporaryFolder(), 'state')
  expect(filesAfter(state, { NODE_COMPILE_CACHE: UNUSABLE }).length).toBeGreaterThanOrEqual(2)
  expect(statSync(state).mode & 0o777).toBe(0o700)
})

test('another folder that can be written is used instead, or none if the user wants none', () => {
  const state = temporaryFolder()
  expect(filesAfter(state, { NODE_COMPILE_CACHE: temporaryFolder() })).toEqual([])
  expect(filesAfter(state, { NODE_DISABLE_COMPILE_CACHE: '1' })).toEqual([])
})

test('a state folder that cannot be made has no effect', () => {
  const state = join(temporaryFolder(), 'missing', 'state')
  expect(filesAfter(state, { NODE_COMPILE_CACHE: UNUSABLE })).toEqual([])
  expect(existsSync(state)).toBe(false)
})
