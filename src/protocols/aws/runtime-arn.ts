/** An agent runtime of Bedrock AgentCore, as its ARN names it. */
export interface RuntimeArn {
  readonly partition: Partition
  readonly region: string
  /** Twelve digits. */
  readonly account: string
  readonly id: string
}

type Partition = 'aws' | 'aws-cn' | 'aws-us-gov'

/** The service of agent runtimes, in ARNs, hostnames and signatures. */
export const RUNTIME_SERVICE = 'bedrock-agentcore'

/** The regions of a partition, and what their hostnames end with. */
const PARTITIONS: Readonly<Record<Partition, { readonly regions: RegExp; readonly suffix: string }>> = {
  aws: { regions: /^(?!cn-|us-gov-|[a-z]+-iso)/, suffix: 'amazonaws.com' },
  'aws-cn': { regions: /^cn-/, suffix: 'amazonaws.com.cn' },
  'aws-us-gov': { regions: /^us-gov-/, suffix: 'amazonaws.com' },
}

const FORM = `arn:aws:${RUNTIME_SERVICE}:<region>:<12 digits>:runtime/<id>`
/** What a pattern can say of an ARN; the regions of a partition are checked besides. */
export const RUNTIME_ARN =
  /^arn:(aws|aws-cn|aws-us-gov):bedrock-agentcore:[a-z]{2}(-[a-z]+)+-[0-9]+:[0-9]{12}:runtime\/[A-Za-z0-9_-]+$/
const REGION = /^[a-z]{2}(?:-[a-z]+)+-\d+$/
const RUNTIME = /^runtime\/([A-Za-z0-9_-]+)$/

/** Reads an ARN and checks all of its parts. @returns the ARN, or what is wrong with it, after the name of the field */
export function readRuntimeArn(text: string): RuntimeArn | string {
  const [prefix, partition = '', service, region = '', account = '', ...rest] = text.split(':')
  if (prefix !== 'arn' || rest.length === 0) return `must have the form ${FORM}`
  if (!isPartition(partition)) return `must have the partition ${Object.keys(PARTITIONS).join(', ')}, after "arn:"`
  if (service !== RUNTIME_SERVICE) return `must have the service ${RUNTIME_SERVICE}, after the partition`
  if (!REGION.test(region)) return 'must have a region such as us-east-1, after the service'
  if (!PARTITIONS[partition].regions.test(region)) return `must have a region of partition ${partition}`
  if (!/^\d{12}$/.test(account)) return 'must have an account of 12 digits, after the region'
  const resource = rest.join(':')
  if (/^runtime\/[^/:]+(?::|\/runtime-endpoint\/)/.test(resource)) {
    return 'must end with the id of the runtime; set its version or endpoint as qualifier'
  }
  const id = RUNTIME.exec(resource)?.[1]
  return id === undefined ? 'must end with runtime/<id>, after the account' : { partition, region, account, id }
}

/** The endpoint of the service in the region of the runtime. */
export function runtimeHost({ partition, region }: RuntimeArn): string {
  return `${RUNTIME_SERVICE}.${region}.${PARTITIONS[partition].suffix}`
}

function isPartition(text: string): text is Partition {
  return Object.hasOwn(PARTITIONS, text)
}
