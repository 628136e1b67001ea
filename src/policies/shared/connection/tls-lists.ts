import { alpnProtocol, enumOf, list, type Parsed } from '#schema/index.ts'

export const alpnProtocols = () => list(alpnProtocol(), { min: 1, max: 16 })

const keyExchangeGroup = enumOf('X25519', 'P-256', 'P-384', 'X25519_MLKEM768')

export const keyExchangeGroups = () => list(keyExchangeGroup)

export type KeyExchangeGroup = Parsed<typeof keyExchangeGroup>
