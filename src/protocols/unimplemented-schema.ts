import { exactlyOne, formattedText, object, optional, required, type ScalarRefusal, text } from '#schema/index.ts'

const RUNTIME_ARN =
  /^arn:(?:aws|aws-cn|aws-us-gov):bedrock-agentcore:[a-z]{2}(?:-[a-z]+)+-\d+:\d{12}:runtime\/[A-Za-z0-9_-]+$/

/** A slip in an ARN shows at once (decision B90). */
function checkRuntimeArn(arn: string): ScalarRefusal | undefined {
  if (RUNTIME_ARN.test(arn)) return undefined
  const message = 'must have the form arn:aws:bedrock-agentcore:<region>:<12 digits>:runtime/<id>'
  return { code: 'invalid-identifier', message }
}

const agentRuntime = object({
  agentRuntimeArn: required(formattedText({}, checkRuntimeArn), 'ARN of the agent runtime.'),
  qualifier: optional(text(), 'Alias or version of the agent runtime.'),
})

/** `ProxyBackend.spec.aws` (specification 1, 2.3.3). */
export const awsBackend = exactlyOne(
  ['agentRuntime'],
  object({ agentRuntime: optional(agentRuntime, 'An agent runtime.') }),
)
