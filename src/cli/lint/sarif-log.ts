import { meaningOf, pageOf } from '#base/findings.ts'
import { VERSION } from '#instance/version.ts'
import type { FileProblem } from '#store/file-problem.ts'

const LEVELS = { error: 'error', warning: 'warning', advice: 'note' } as const satisfies Record<
  FileProblem['severity'],
  string
>

/** Problems as a log of SARIF 2.1.0 (OASIS), which code scanners and editors read. */
export function sarifLog(problems: readonly FileProblem[]): object {
  const codes = [...new Set(problems.map(({ code }) => code))].sort()
  const rules = codes.map((code) => ({
    id: code,
    shortDescription: { text: meaningOf(code) },
    // No `helpUri`: it has to be absolute (SARIF 2.1.0, 3.49.12).
    help: { text: `${pageOf(code)} explains it.` },
  }))
  const results = problems.map((problem) => ({
    ruleId: problem.code,
    ruleIndex: codes.indexOf(problem.code),
    level: LEVELS[problem.severity],
    message: { text: problem.path === '' ? problem.message : `${problem.path}: ${problem.message}` },
    ...locationsOf(problem),
  }))
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      { tool: { driver: { name: 'gatewright', version: VERSION, rules } }, columnKind: 'utf16CodeUnits', results },
    ],
  }
}

function locationsOf({ file, line, column, object, path }: FileProblem): object {
  const region =
    line === undefined ? {} : { region: { startLine: line, ...(column !== undefined && { startColumn: column }) } }
  const name = [object, path].filter((part) => part !== undefined && part !== '').join(' ')
  const location = {
    ...(file !== '' && { physicalLocation: { artifactLocation: { uri: encodeURI(file) }, ...region } }),
    ...(name !== '' && { logicalLocations: [{ fullyQualifiedName: name }] }),
  }
  return Object.keys(location).length === 0 ? {} : { locations: [location] }
}
