const VERSION = /^v(?<major>[1-9]\d*)(?:(?<stage>alpha|beta)(?<minor>[1-9]\d*))?$/
const STAGES: Readonly<Record<string, number>> = { alpha: 0, beta: 1, stable: 2 }

/**
 * The order in which clients prefer versions (Kubernetes, "Versions in CustomResourceDefinitions: Version priority"): stable ones, then
 * beta, then alpha, each with the newest first; other names come last, by name.
 */
export function compareVersions(a: string, b: string): number {
  const [one, two] = [rankOf(a), rankOf(b)]
  if (one === undefined || two === undefined) {
    if (one !== undefined) return -1
    return two === undefined ? (a < b ? -1 : a > b ? 1 : 0) : 1
  }
  return two.stage - one.stage || two.major - one.major || two.minor - one.minor
}

function rankOf(
  version: string,
): { readonly stage: number; readonly major: number; readonly minor: number } | undefined {
  const { major, stage = 'stable', minor = '0' } = VERSION.exec(version)?.groups ?? {}
  if (major === undefined) return undefined
  return { stage: STAGES[stage]!, major: Number(major), minor: Number(minor) }
}
