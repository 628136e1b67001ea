import { expect, test } from 'vitest'
import { sourceOf } from '#policies/shared/testing.ts'
import { aws } from './aws-protocol.ts'
import type { AgentRuntimeSpec } from './backend-schema.ts'
import { readRuntimeArn } from './runtime-arn.ts'

const ARN = 'arn:aws:bedrock-agentcore:us-west-2:123456789012:runtime/travel_agent-Ab1'

const backendOf = (agentRuntime: AgentRuntimeSpec) => ({
  ...sourceOf({ agentRuntime }),
  namespace: 'default',
  name: 'agent',
})
const addressOf = (agentRuntimeArn: string, qualifier?: string) =>
  aws.addresses(backendOf({ agentRuntimeArn, ...(qualifier === undefined ? {} : { qualifier }) }))[0]![0]!

test('an agent runtime is the service in its region, over TLS, signed with credentials from the environment', () => {
  expect(addressOf(ARN)).toEqual({
    host: 'bedrock-agentcore.us-west-2.amazonaws.com',
    port: 443,
    unixPath: undefined,
    section: undefined,
    hostname: 'bedrock-agentcore.us-west-2.amazonaws.com',
    tls: true,
    signing: { service: 'bedrock-agentcore', region: 'us-west-2', only: true },
    ambient: 'cloudOne',
    target:
      '/runtimes/arn%3Aaws%3Abedrock-agentcore%3Aus-west-2%3A123456789012%3Aruntime%2Ftravel_agent-Ab1/invocations',
    version: undefined,
  })
  expect([aws.name, aws.responseTimeoutMs, aws.rewritesHost]).toEqual(['http', 0, true])
})

test.each([
  ['PROD', 'PROD'],
  ['v1.0_a-b~c', 'v1.0_a-b~c'],
  ['a b&x=1#/?%2F+', 'a%20b%26x%3D1%23%2F%3F%252F%2B'],
  ["ü'\r\n", '%C3%BC%27%0D%0A'],
])('qualifier %j is sent as %s', (qualifier, sent) => {
  expect(addressOf(ARN, qualifier).target?.split('?')[1]).toBe(`qualifier=${sent}`)
})

test.each([
  ['arn:aws-cn:bedrock-agentcore:cn-north-1:123456789012:runtime/a', 'bedrock-agentcore.cn-north-1.amazonaws.com.cn'],
  [
    'arn:aws-us-gov:bedrock-agentcore:us-gov-west-1:123456789012:runtime/a',
    'bedrock-agentcore.us-gov-west-1.amazonaws.com',
  ],
  ['arn:aws:bedrock-agentcore:ap-southeast-2:123456789012:runtime/a', 'bedrock-agentcore.ap-southeast-2.amazonaws.com'],
])('the host of %s is %s', (arn, host) => {
  expect(addressOf(arn).hostname).toBe(host)
})

const FORM = 'must have the form arn:aws:bedrock-agentcore:<region>:<12 digits>:runtime/<id>'
const QUALIFIER = 'must end with the id of the runtime; set its version or endpoint as qualifier'
const ID = 'must end with runtime/<id>, after the account'

test.each([
  ['', FORM],
  ['runtime/a', FORM],
  ['arn:aws:bedrock-agentcore:us-east-1:123456789012', FORM],
  [ARN.replace('arn:', 'urn:'), FORM],
  [ARN.replace(':aws:', ':azure:'), 'must have the partition aws, aws-cn, aws-us-gov, after "arn:"'],
  [ARN.replace(':aws:', ':toString:'), 'must have the partition aws, aws-cn, aws-us-gov, after "arn:"'],
  [ARN.replace('bedrock-agentcore', 'bedrock'), 'must have the service bedrock-agentcore, after the partition'],
  [ARN.replace('us-west-2', ''), 'must have a region such as us-east-1, after the service'],
  [ARN.replace('us-west-2', 'us-west'), 'must have a region such as us-east-1, after the service'],
  [ARN.replace('us-west-2', 'x.example.com/-1'), 'must have a region such as us-east-1, after the service'],
  [ARN.replace('us-west-2', 'cn-north-1'), 'must have a region of partition aws'],
  [ARN.replace('us-west-2', 'us-gov-west-1'), 'must have a region of partition aws'],
  [ARN.replace('us-west-2', 'us-isob-east-1'), 'must have a region of partition aws'],
  [ARN.replace(':aws:', ':aws-cn:'), 'must have a region of partition aws-cn'],
  [ARN.replace('123456789012', '12345'), 'must have an account of 12 digits, after the region'],
  [ARN.replace('123456789012', ''), 'must have an account of 12 digits, after the region'],
  [`${ARN}/runtime-endpoint/DEFAULT`, QUALIFIER],
  [`${ARN}:3`, QUALIFIER],
  [ARN.replace('runtime/', 'gateway/'), ID],
  [ARN.replace(/runtime.*/, 'runtime/'), ID],
  [`${ARN}/x`, ID],
  [`${ARN} `, ID],
  [`${ARN}\n`, ID],
])('%j %s', (arn, problem) => {
  expect(readRuntimeArn(arn)).toBe(problem)
})

test('explain names the runtime and what it does with the path', () => {
  const lines = (qualifier?: string) =>
    aws.compile(backendOf({ agentRuntimeArn: ARN, ...(qualifier === undefined ? {} : { qualifier }) })).explain().lines
  const runtime = 'agent runtime travel_agent-Ab1 of account 123456789012 at bedrock-agentcore.us-west-2.amazonaws.com'
  expect(lines()).toEqual([`${runtime}, its default endpoint; it replaces path and query`])
  expect(lines('PROD')).toEqual([`${runtime}, qualifier "PROD"; it replaces path and query`])
})
