import { count } from '#base/count.ts'
import { pageOf } from '#base/findings.ts'
import { type FileProblem, problemParts } from '#store/file-problem.ts'
import { countProblems, type ProblemLines } from '../finding-lines.ts'
import type { StyledText } from '../output.ts'
import type { Style } from '../terminal.ts'
import type { FixedFiles } from './fix-files.ts'
import { githubCommands } from './github-commands.ts'
import { sarifLog } from './sarif-log.ts'

/** Forms of the output of `lint`. `github`: workflow commands, which become annotations of a pull request. */
export const FORMATS = ['text', 'json', 'sarif', 'github'] as const
export type Format = (typeof FORMATS)[number]

/** What `lint` has found. */
export interface LintResult extends ProblemLines {
  readonly objects: number
  /** Undefined: `--fix` is not set. */
  readonly fixed?: FixedFiles
}

type Line = readonly StyledText[]

/** The output in a form, as lines. */
export function report(format: Format, result: LintResult): readonly Line[] {
  if (format !== 'text') return plainReport(format, result).map((text) => [{ text }])
  const { errors, warnings } = result
  const style = errors > 0 ? 'red' : warnings > 0 ? 'yellow' : 'green'
  return [
    ...fixLines(result.fixed).map((text) => [{ text }]),
    ...result.problems.flatMap(findingLines),
    [{ text: summary(result), style }],
  ]
}

const STYLES = { error: 'red', warning: 'yellow', advice: 'cyan' } as const satisfies Record<
  FileProblem['severity'],
  Style
>

/** Further lines, with an expression and a mark below it, are as in `ProblemLines`. */
function findingLines(problem: FileProblem): readonly Line[] {
  const [first = '', ...more] = problem.message.split('\n')
  const { at, severity, text, code } = problemParts({ ...problem, message: first })
  const style = STYLES[problem.severity]
  return [
    [{ text: at, style: 'bold' }, { text: severity, style }, { text }, { text: code, style: 'dim' }],
    ...more.map((line): Line => [{ text: `    ${line}`, style: /^ *\^$/.test(line) ? style : undefined }]),
  ]
}

function plainReport(format: Exclude<Format, 'text'>, result: LintResult): readonly string[] {
  switch (format) {
    case 'json':
      return jsonLines(jsonReport(result))
    case 'sarif':
      return jsonLines(sarifLog(result.problems))
    case 'github':
      return [...githubCommands(result.problems), summary(result)]
  }
}

function jsonLines(value: object): readonly string[] {
  return JSON.stringify(value, undefined, 2).split('\n')
}

/** What was corrected, or what would be. */
function fixLines(fixed: FixedFiles | undefined): readonly string[] {
  if (fixed === undefined) return []
  const { fixes, dryRun, diff } = fixed
  if (dryRun) return [...diff, `${count(fixes.length, 'correction')} possible; nothing was changed`]
  return [
    ...fixes.map(({ file, line, column, path, message }) => `${file}:${line}:${column}: fixed: ${path}: ${message}`),
    `${count(fixes.length, 'correction')} made`,
  ]
}

function summary(result: LintResult): string {
  const { objects, lines, advised } = result
  const wrong = countProblems(result)
  const found =
    lines.length === 0 ? 'nothing to report' : advised === 0 ? wrong : `${wrong}, ${count(advised, 'recommendation')}`
  return `${objects === 0 && result.errors > 0 ? 'no valid object' : count(objects, 'object')}: ${found}`
}

function jsonReport({ objects, errors, warnings, advised, problems, fixed }: LintResult): object {
  return {
    ...{ objects, errors, warnings, recommendations: advised },
    ...(fixed !== undefined && { dryRun: fixed.dryRun, fixes: fixed.fixes }),
    problems: problems.map(jsonProblem),
  }
}

/** Members that are not known are absent. */
function jsonProblem({ severity, code, message, file, line, column, object, path }: FileProblem): object {
  return {
    ...{ severity, code, message },
    ...(file !== '' && { file }),
    ...(line !== undefined && { line }),
    ...(column !== undefined && { column }),
    ...(object !== undefined && { object }),
    ...(path !== '' && { path }),
    page: pageOf(code),
  }
}
