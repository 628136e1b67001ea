import { count } from '#base/count.ts'
import { SecretIndex } from '#control/secret-values.ts'
import { FileStore } from '#store/files.ts'
import { EXIT, type ExitCode } from './exit-code.ts'
import { countProblems, findingLines } from './finding-lines.ts'
import { loadPlan } from './load-plan.ts'
import { objectPaths, type PathFlags } from './object-paths.ts'
import { print } from './output.ts'

export interface LintFlags extends PathFlags {
  readonly verbose?: true
}

/** Checks objects as a gateway would, without running one. */
export function lint(paths: readonly string[], { verbose, ...flags }: LintFlags): ExitCode {
  const store = new FileStore(objectPaths('lint', paths, flags))
  const { findings } = loadPlan(store)
  const { lines, errors, warnings, advised } = findingLines(store, findings, { advice: verbose })
  const secrets = new SecretIndex().update({ set: store.list(), removed: [] })
  for (const line of lines) print(secrets.hide(line))
  const objects = store.list().length
  const wrong = countProblems({ errors, warnings })
  const found =
    lines.length === 0 ? 'nothing to report' : advised === 0 ? wrong : `${wrong}, ${count(advised, 'recommendation')}`
  print(`${count(objects, 'object')}: ${found}`)
  return errors + warnings === 0 ? EXIT.ok : EXIT.findings
}
