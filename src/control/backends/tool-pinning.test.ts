import { expect, test } from 'vitest'
import type { ConfigProblem } from '#base/config-problem.ts'
import { toolPinning } from './tool-pinning.ts'

const MODE = 'gatewright.dev/mcp-tool-pinning'
const ACCEPTED = 'gatewright.dev/mcp-accepted-tools'
const A = '0123456789abcdef0123456789abcdef'
const B = 'ffffffffffffffffffffffffffffffff'

function read(annotations: Readonly<Record<string, string>>, isMcp = true) {
  const problems: ConfigProblem[] = []
  const pinning = toolPinning({ name: 'b', namespace: 'default', annotations }, isMcp, (one) => problems.push(one))
  return { pinning, problems: problems.map(({ path, code, severity }) => `${severity} ${code} ${path}`) }
}

test.each<[annotations: Record<string, string>, pinning: object | undefined]>([
  [{}, undefined],
  [{ [MODE]: 'Report' }, undefined],
  [{ [MODE]: 'Refuse' }, {}],
  [{ [MODE]: 'Refuse', [ACCEPTED]: '' }, { accepted: [] }],
  [{ [MODE]: 'Refuse', [ACCEPTED]: A }, { accepted: [A] }],
  [{ [MODE]: 'Refuse', [ACCEPTED]: ` forecast=${A},\nodd=name=${B} ` }, { accepted: [A, B] }],
])('%j', (annotations, pinning) => {
  expect(read(annotations)).toEqual({ pinning, problems: [] })
})

test.each<[annotations: Record<string, string>, isMcp: boolean, pinning: object | undefined, problem: string]>([
  [{ [MODE]: 'refuse' }, true, {}, `error annotation-value metadata.annotations[${MODE}]`],
  [{ [MODE]: '' }, true, {}, `error annotation-value metadata.annotations[${MODE}]`],
  [{ [ACCEPTED]: A }, true, undefined, `warning no-effect metadata.annotations[${ACCEPTED}]`],
  [{ [MODE]: 'Report', [ACCEPTED]: A }, true, undefined, `warning no-effect metadata.annotations[${ACCEPTED}]`],
  [
    { [MODE]: 'Refuse', [ACCEPTED]: `x=${A} y=123` },
    true,
    { accepted: [A] },
    `error annotation-value metadata.annotations[${ACCEPTED}]`,
  ],
  [{ [MODE]: 'Refuse' }, false, undefined, `warning no-effect metadata.annotations[${MODE}]`],
])('%j of an MCP backend (%s) is reported', (annotations, isMcp, pinning, problem) => {
  expect(read(annotations, isMcp)).toEqual({ pinning, problems: [problem] })
})
