import { SecretIndex } from '#control/secret-values.ts'
import { FileStore } from '#store/files.ts'
import { EXIT, type ExitCode } from './exit-code.ts'
import { count, countProblems, findingLines } from './finding-lines.ts'
import { loadPlan } from './load-plan.ts'
import { print } from './output.ts'

/** Checks objects as a gateway would, without running one. */
export function lint({ file, verbose }: { readonly file: readonly string[]; readonly verbose?: true }): ExitCode {
  const store = new FileStore(file)
  const { findings } = loadPlan(store)
  const { lines, errors, warnings, advised } = findingLines(store, findings, { advice: verbose })
  const secrets = new SecretIndex().update({ set: store.list(), removed: [] })
  for (const line of lines) print(secrets.hide(line))
  const objects = store.list().length
  const wrong = errors + warnings === 0 ? 'no problems' : countProblems({ errors, warnings })
  const found =
    lines.length === 0 ? 'nothing to report' : advised === 0 ? wrong : `${wrong}, ${count(advised, 'recommendation')}`
  print(`${count(objects, 'object')}: ${found}`)
  return errors + warnings === 0 ? EXIT.ok : EXIT.findings
}
