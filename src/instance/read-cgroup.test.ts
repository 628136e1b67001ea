import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { type Cgroup, cgroupFolder, memoryByKind, readCgroup } from './read-cgroup.ts'

function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder()
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

const STAT = 'usage_usec 5000\nuser_usec 4000\nsystem_usec 1000\nnr_periods 9\nnr_throttled 2\nthrottled_usec 2500000\n'

test.each<[files: Readonly<Record<string, string>>, cgroup: Cgroup]>([
  [{}, {}],
  [
    { 'memory.current': '1048576\n', 'memory.max': '2097152\n', 'cpu.max': '150000 100000\n', 'cpu.stat': STAT },
    { memoryBytes: 1_048_576, memoryLimitBytes: 2_097_152, cpuLimit: 1.5, throttledSeconds: 2.5 },
  ],
  [{ 'memory.current': '5\n', 'memory.max': 'max\n', 'cpu.max': 'max 100000\n' }, { memoryBytes: 5 }],
  [{ 'memory.current': '', 'memory.max': 'x', 'cpu.max': '1', 'cpu.stat': 'usage_usec 1\n' }, {}],
])('with the files %j: %j', (files, cgroup) => {
  expect(readCgroup(folderOf(files))).toEqual(cgroup)
})

test.each([
  ['', '/sys/fs/cgroup/'],
  ['12:cpu:/a\n', '/sys/fs/cgroup/'],
  ['12:cpu:/a\n0::/b/c\n', '/sys/fs/cgroup/b/c'],
])('of the groups %j, that of version 2 counts', (groups, folder) => {
  expect(cgroupFolder(groups)).toBe(folder)
})

test('the group of this process is below the mount point', () => {
  expect(cgroupFolder()).toMatch(/^\/sys\/fs\/cgroup(?:\/|$)/)
})

test('memory by kind', () => {
  const status =
    'VmSize:\t 999 kB\nRssAnon:\t     100 kB\nRssFile:\t      20 kB\nRssShmem:\t       3 kB\nVmSwap:\t       0 kB\n'
  expect(memoryByKind(status)).toEqual([
    ['anonymous', 102_400],
    ['file', 20_480],
    ['shared', 3072],
    ['swapped', 0],
  ])
  expect(memoryByKind('')).toEqual([])
})
