import { enumOf, list, tinyString } from '#schema/index.ts'

export const alpnProtocols = () => list(tinyString(), { min: 1, max: 16 })

export const keyExchangeGroups = () => list(enumOf('X25519', 'P-256', 'P-384', 'X25519_MLKEM768'))
