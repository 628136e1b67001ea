import type { ConfigProblem } from '#base/config-problem.ts'

/** A guardrail of guardrails service one, as it and the models of its vendor name it. */
export interface GuardrailName {
  readonly identifier: string
  readonly version: string
}

const IDENTIFIER = /^(?:[a-z0-9]+|arn:aws(?:-[^:]+)?:bedrock:([a-z0-9-]{1,20}):[0-9]{12}:guardrail\/[a-z0-9]+)$/
/** Those of all partitions: `us-gov-west-1`, `us-isob-east-1`. */
const REGION = /^[a-z]{2,4}(?:-[a-z]{2,12}){1,3}-[0-9]{1,2}$/
const VERSION = /^(?:[1-9][0-9]{0,7}|DRAFT)$/

/** What the service refuses. @param region of the service; an ARN names its own */
export function reportGuardrailName(
  { identifier, version }: GuardrailName,
  region: string | undefined,
  report: (field: string, problem: Omit<ConfigProblem, 'path'>) => void,
): void {
  const warn = (field: string, message: string) =>
    report(field, { code: 'invalid-identifier', message, severity: 'warning' })
  if (region !== undefined && !REGION.test(region)) {
    const message = 'is not the name of a region, such as us-east-1; the service cannot be reached'
    report('.region', { code: 'invalid-region', message, severity: 'warning' })
  }
  const name = IDENTIFIER.exec(identifier)
  if (name === null) warn('.identifier', 'is not the id or the ARN of a guardrail; the service refuses it')
  else if (region !== undefined && name[1] !== undefined && name[1] !== region) {
    warn('.identifier', `is a guardrail in ${name[1]}, which the service in ${region} does not have`)
  }
  if (!VERSION.test(version)) {
    warn('.version', 'is not a version of a guardrail: a number or DRAFT; the service refuses it')
  }
}
