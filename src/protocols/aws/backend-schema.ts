import {
  exactlyOne,
  formattedText,
  object,
  optional,
  type Parsed,
  required,
  text,
  withMeanings,
} from '#schema/index.ts'
import { RUNTIME_ARN, readRuntimeArn } from './runtime-arn.ts'

const MEANINGS = {
  arn: 'use "agentRuntimeArn"',
  region: 'remove it; the ARN contains the region',
  alias: 'use "qualifier"',
  endpoint: 'use "qualifier"',
  version: 'use "qualifier"',
}

const agentRuntime = withMeanings(
  MEANINGS,
  object({
    agentRuntimeArn: required(
      formattedText({ pattern: RUNTIME_ARN }, (arn) => {
        const read = readRuntimeArn(arn)
        return typeof read === 'string' ? { code: 'invalid-identifier', message: read } : undefined
      }),
      'ARN of the agent runtime.',
    ),
    qualifier: optional(text({ min: 1 }), 'Alias or version of the agent runtime. When unset, its default endpoint.'),
  }),
)

/** `ProxyBackend.spec.aws` (specification 1, 2.3.3). */
export const awsBackend = exactlyOne(
  ['agentRuntime'],
  object({ agentRuntime: optional(agentRuntime, 'An agent runtime.') }),
)

export type AwsBackendSpec = Parsed<typeof awsBackend>
export type AgentRuntimeSpec = Parsed<typeof agentRuntime>
