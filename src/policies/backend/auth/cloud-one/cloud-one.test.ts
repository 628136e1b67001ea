import { expect, test } from 'vitest'
import { LARGE_BODY } from '#exchange/known-body.ts'
import { HASHING } from '#test/support/hashing.ts'
import { verifies } from '#test/support/verifies.ts'
import type { PolicyDestination } from '../../../policy.ts'
import { CloudCredential, type CredentialSource } from '../../../shared/clouds/cloud-credential.ts'
import { codeOf, contextWith, exchangeWith, linesOf, runContext, sourceOf, specFrom } from '../../../shared/testing.ts'
import { impliedAuth } from '../implied-auth.ts'
import { auth } from '../index.ts'
import { type AuthForm, backendAuth } from '../schema.ts'

const KEYS = { accessKey: ' AKIDEXAMPLE\n', secretKey: 'secret' }
const SECRETS = {
  keys: KEYS,
  temporary: { ...KEYS, sessionToken: 'session' },
  incomplete: { accessKey: 'AKIDEXAMPLE' },
  broken: { ...KEYS, accessKey: 'a\nb' },
  empty: { ...KEYS, secretKey: ' ' },
}
const NOWHERE: PolicyDestination = { hostname: undefined, signing: undefined }
const BEDROCK = { service: 'bedrock', region: 'eu-west-3' }

interface Inputs {
  readonly secret?: string
  readonly serviceName?: string
  readonly to?: Partial<PolicyDestination>
  /** Of the environment. */
  readonly region?: string
}

function compile({ secret = 'keys', serviceName, to = {}, region }: Inputs) {
  const clouds = { hashing: HASHING, region }
  const context = contextWith({ secrets: SECRETS, clouds, destination: { ...NOWHERE, ...to } })
  const spec = specFrom(backendAuth, { cloudOne: { secretRef: { name: secret }, serviceName } })
  return { run: auth.compile([sourceOf(spec)], context)!, problems: context.problems }
}

/** Signs a request at 2026-01-02T03:04:05Z. */
function send(inputs: Inputs, body?: string) {
  const { run, problems } = compile(inputs)
  const exchange = exchangeWith({
    method: 'POST',
    headers: { authorization: 'Bearer client' },
    ...(body === undefined ? {} : { body }),
  })
  exchange.context = runContext({ now: () => 1_767_323_045_678 })
  const code = codeOf(run.request!(exchange) ?? run.signature?.sign(exchange))
  return {
    code,
    lines: linesOf(exchange.request),
    problems: problems.map(({ code, path, message }) => `${code} ${path}: ${message}`),
  }
}

const scopeOf = (inputs: Inputs) =>
  /Credential=AKIDEXAMPLE\/20260102\/([^,]*)\/aws4_request/.exec(send(inputs).lines.join())?.[1]

verifies(
  'backend.auth.cloudOne/secret-keys',
  'the entries of the Secret sign; a session token is sent with the request',
  () => {
    const to = { signing: BEDROCK }
    expect(send({ to })).toEqual({
      code: 'proceed',
      lines: [
        'x-amz-date: 20260102T030405Z',
        expect.stringMatching(
          /^authorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/20260102\/eu-west-3\/bedrock\/aws4_request, SignedHeaders=host;x-amz-date, Signature=[0-9a-f]{64}$/,
        ),
      ],
      problems: [],
    })
    expect(send({ to, secret: 'temporary' }).lines).toEqual([
      'x-amz-date: 20260102T030405Z',
      'x-amz-security-token: session',
      expect.stringContaining('SignedHeaders=host;x-amz-date;x-amz-security-token,'),
    ])
  },
)

verifies(
  ['backend.auth.cloudOne/serviceName', 'backend.auth.cloudOne/serviceName-of-backend'],
  'the service is that of the policy, else that of the type of the backend',
  () => {
    expect(scopeOf({ to: { signing: BEDROCK } })).toBe('eu-west-3/bedrock')
    expect(scopeOf({ to: { signing: BEDROCK }, serviceName: 'own' })).toBe('eu-west-3/own')
  },
)

test('the region is that of the backend, else of its hostname, else of the environment', () => {
  const regions: [to: Partial<PolicyDestination>, region: string | undefined][] = [
    [{ signing: BEDROCK, hostname: 'sqs.us-west-2.amazonaws.com' }, 'eu-west-3'],
    [{ hostname: 'sqs.us-west-2.amazonaws.com' }, 'us-west-2'],
    [{ hostname: 'SQS.cn-north-1.amazonaws.com.cn' }, 'cn-north-1'],
    [{ hostname: 'id.lambda-url.us-gov-east-1.on.aws' }, 'us-gov-east-1'],
    [{ hostname: 's3.dualstack.ap-south-2.api.aws' }, 'ap-south-2'],
    [{ hostname: 'bucket-eu-west-1.s3.amazonaws.com' }, undefined],
    [{ hostname: 'sqs.us-west-2.example.com' }, undefined],
    [{}, undefined],
  ]
  for (const [to, region] of regions) {
    expect(scopeOf({ to, serviceName: 's' }), JSON.stringify(to)).toBe(region && `${region}/s`)
    expect(scopeOf({ to, serviceName: 's', region: 'eu-north-1' })).toBe(`${region ?? 'eu-north-1'}/s`)
  }
})

test('the body is buffered and signed, except for services that take unsigned bodies', () => {
  const to = { signing: BEDROCK }
  expect(send({ to }, 'one').lines.at(-1)).not.toBe(send({ to }, 'two').lines.at(-1))
  const s3 = { to, serviceName: 's3' }
  expect(send(s3, 'one')).toEqual(send(s3, 'two'))
  expect(send(s3).lines).toContain('x-amz-content-sha256: UNSIGNED-PAYLOAD')
})

test('the whole body is needed, unless it is unsigned or an event stream', () => {
  const needsBody = (serviceName: string, contentType: string) => {
    const { request } = exchangeWith({ headers: { 'content-type': contentType } })
    return compile({ to: { signing: BEDROCK }, serviceName }).run.signature!.coversBody(request)
  }
  const events = 'application/vnd.amazon.eventstream'
  expect(
    ['text/plain', events, `${events};x=1`, events.toUpperCase(), `${events}2`, `${events}, text/plain`].map((type) => [
      needsBody('sqs', type),
      needsBody('s3', type),
    ]),
  ).toEqual([
    [true, false],
    [false, false],
    [false, false],
    [false, false],
    [true, false],
    [true, false],
  ])
})

test('a body that streams although it must be signed is refused', () => {
  for (const [serviceName, code] of [
    ['s3', 'proceed'],
    ['sqs', 'backend-auth-failed'],
  ] as const) {
    const { run } = compile({ to: { signing: BEDROCK }, serviceName })
    const exchange = exchangeWith()
    exchange.requestBody = LARGE_BODY
    expect(codeOf(run.signature!.sign(exchange))).toBe(code)
    expect(exchange.signBody).toBeUndefined()
  }
})

test('S3 takes no signed events: an event stream is unsigned, too', () => {
  const { run } = compile({ to: { signing: BEDROCK }, serviceName: 's3' })
  const exchange = exchangeWith({ headers: { 'content-type': 'application/vnd.amazon.eventstream' } })
  run.signature!.sign(exchange)
  expect([exchange.request.get('x-amz-content-sha256'), exchange.signBody]).toEqual(['UNSIGNED-PAYLOAD', undefined])
})

const SET = { to: { signing: BEDROCK } }
const AT = 'spec.traffic.field.cloudOne'
const refused: [inputs: Inputs, problem: string][] = [
  [
    { ...SET, secret: 'absent' },
    `secret-missing ${AT}.secretRef: the Secret \`default/absent\` does not exist, or has errors and is not in use; requests are refused`,
  ],
  [
    { ...SET, secret: 'incomplete' },
    `secret-missing ${AT}.secretRef: the Secret \`default/incomplete\` has no key \`secretKey\`; requests are refused`,
  ],
  [
    { ...SET, secret: 'broken' },
    `credential-invalid ${AT}.secretRef: entry accessKey of Secret broken is empty or not valid; requests are refused`,
  ],
  [
    { ...SET, secret: 'empty' },
    `credential-invalid ${AT}.secretRef: entry secretKey of Secret empty is empty or not valid; requests are refused`,
  ],
  [
    { ...SET, serviceName: 's/x' },
    `credential-invalid ${AT}.serviceName: "s/x" cannot be the name of a service; requests are refused`,
  ],
  [
    { region: 'eu-north-1' },
    `credential-incomplete ${AT}: the backend does not determine the service of signatures; set serviceName; requests are refused`,
  ],
  [
    { serviceName: 's' },
    `credential-incomplete ${AT}: neither the backend nor its hostname has a region for signatures; set AWS_REGION in the environment of the gateway; requests are refused`,
  ],
]
for (const [inputs, problem] of refused) {
  test(`refused before anything is sent: ${problem}`, () => {
    expect(send(inputs)).toEqual({
      code: 'backend-auth-failed',
      lines: ['authorization: Bearer client'],
      problems: [problem],
    })
  })
}

test('a signature for another service than the only one of the backend is reported, and sent', () => {
  const signing = { service: 'bedrock-agentcore', region: 'us-east-1', only: true } as const
  const { code, problems } = send({ to: { signing }, serviceName: 'bedrock' })
  expect([code, problems]).toEqual([
    'proceed',
    [`inconsistent ${AT}.serviceName: the backend accepts only signatures for bedrock-agentcore; remove serviceName`],
  ])
  expect(send({ to: { signing }, serviceName: 'bedrock-agentcore' }).problems).toEqual([])
  expect(send({ to: { signing: BEDROCK }, serviceName: 's' }).problems).toEqual([])
})

test('compiled for itself, a policy reports only what does not depend on the endpoint', () => {
  const context = contextWith({ secrets: SECRETS })
  const spec = specFrom(backendAuth, { cloudOne: { secretRef: { name: 'keys' } } })
  const run = auth.compile([sourceOf(spec)], context)!
  expect([codeOf(run.request!(exchangeWith())), context.reports]).toEqual(['backend-auth-failed', []])
})

/** Sends a request with an API key that the environment has, and says what the policy asks the environment for. */
function sendWithApiKey(spec: AuthForm, signing: PolicyDestination['signing']) {
  const sources: CredentialSource[] = []
  const at = (source: CredentialSource): CloudCredential => {
    sources.push(source)
    const credential = new CloudCredential(source, () => {})
    const value = { secret: { token: 'api-key' }, expiresMs: undefined }
    credential.update({ id: source.id, value, fetchedMs: 0, failure: undefined, final: true, restMs: 0 })
    return credential
  }
  const clouds = { hashing: HASHING, region: undefined, credentials: { at } }
  const run = auth.compile([sourceOf(spec)], contextWith({ clouds, destination: { hostname: 'h', signing } }))!
  const exchange = exchangeWith({ headers: { authorization: 'Bearer client', 'x-amz-date': 'client' } })
  const code = codeOf(run.request!(exchange) ?? run.signature?.sign(exchange))
  return { code, lines: linesOf(exchange.request), requests: sources.map(({ request }) => request) }
}

test('an API key of the environment is sent as bearer token instead of a signature', () => {
  const { code, lines, requests } = sendWithApiKey(impliedAuth('cloudOne'), BEDROCK)
  expect(requests).toEqual([{ cloud: 'cloudOne', service: 'bedrock' }])
  expect(code).toBe('proceed')
  expect(lines).toContain('authorization: Bearer api-key')
  expect(lines.join()).not.toContain('Bearer client')
})

test('an API key is not looked for where a policy or another service wants a signature', () => {
  expect(sendWithApiKey({ cloudOne: {} }, BEDROCK).requests).toEqual([{ cloud: 'cloudOne' }])
  const runtime = { service: 'bedrock-agentcore', region: 'us-east-1' }
  expect(sendWithApiKey(impliedAuth('cloudOne'), runtime).requests).toEqual([{ cloud: 'cloudOne' }])
})
