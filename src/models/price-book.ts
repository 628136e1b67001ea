import { parseJson } from '#base/parse-json.ts'
import type { LlmFacts } from '#exchange/llm-facts.ts'
import type { LlmCost, LlmPrices, LlmRates } from '#exchange/llm-prices.ts'
import { costAt, ratesFor } from './cost.ts'
import { reduceModelName } from './model-names.ts'
import {
  type ModelPrices,
  matchesName,
  type OwnPrices,
  type PriceCard,
  pricesAt,
  type VendorPrices,
} from './price-table.ts'
import { cardOfTier, shareOfTier } from './service-tiers.ts'

/** What a price book is made of, as it is sent to workers. */
export interface PriceList {
  /** The JSON of `VendorPrices`, which is read when a call of the vendor needs it. */
  readonly vendors: readonly PackedVendor[]
  /** The price file of the operator. */
  readonly own: readonly OwnPrices[]
}

export interface PackedVendor {
  readonly id: string
  readonly hosts: string
  readonly json: string
}

const NO_PRICE_LIST: PriceList = { vendors: [], own: [] }

/** The vendor whose prices the calls of a provider have, unless its host is that of another vendor. */
const VENDOR_OF: Readonly<Record<string, string>> = {
  openai: 'openai',
  azure: 'azure',
  anthropic: 'anthropic',
  'gcp.gemini': 'google',
  'gcp.vertex_ai': 'google',
  'aws.bedrock': 'aws',
}

/** Where a model is found. */
interface Found {
  /** Empty for the operator's own prices. */
  readonly vendor: string
  readonly model: ModelPrices
}

/** Calls choose models by name, and clients may invent names, also very long ones, which no model has. */
const MAX_KNOWN = 1000
const MAX_NAME_LENGTH = 512

/** The prices of models by provider and name. */
export class PriceBook implements LlmPrices {
  #list = NO_PRICE_LIST
  readonly #vendors = new Map<string, VendorPrices>()
  /** By host and provider. */
  readonly #vendorOf = new Map<string, string | undefined>()
  readonly #known = new Map<string, Found | undefined>()

  update(list: PriceList): void {
    this.#list = list
    this.#vendors.clear()
    this.#vendorOf.clear()
    this.#known.clear()
  }

  costOf(llm: LlmFacts, nowMs: number): LlmCost | undefined {
    const rates = this.ratesOf(llm, nowMs)
    return rates && costAt(rates, llm)
  }

  ratesOf(llm: LlmFacts, nowMs: number): LlmRates | undefined {
    const found = this.#find(llm)
    if (found === undefined) return undefined
    const { vendor, model } = found
    const { inputTokens = 0, serviceTier } = llm
    const listed = pricesAt(model, nowMs)
    const card: PriceCard | undefined =
      model.tiers === undefined ? listed : cardOfTier(listed, model.tiers, serviceTier)
    const share = model.tiers === undefined ? shareOfTier(vendor, serviceTier) : 1
    return card === undefined || share === undefined ? undefined : ratesFor(card, inputTokens, share)
  }

  #find(llm: LlmFacts): Found | undefined {
    const { provider, serverAddress } = llm
    const [responseModel, requestModel] = [nameOf(llm.responseModel), nameOf(llm.requestModel)]
    if (this.#list.vendors.length === 0 && this.#list.own.length === 0) return undefined
    const key = `${provider}\n${serverAddress}\n${responseModel}\n${requestModel}`
    if (this.#known.has(key)) return this.#known.get(key)
    const found = this.#search(provider, serverAddress, [responseModel, requestModel])
    if (this.#known.size >= MAX_KNOWN) this.#known.clear()
    this.#known.set(key, found)
    return found
  }

  #search(provider: string, host: string, names: readonly string[]): Found | undefined {
    const own = this.#list.own.filter((row) => row.provider === undefined || row.provider === provider)
    for (const name of names) {
      const model = findModel(own, name)
      if (model !== undefined) return { vendor: '', model }
    }
    const id = this.#vendorAt(host) ?? VENDOR_OF[provider]
    const vendor = this.#vendor(id)
    for (const each of [vendor, ...(vendor?.fallbacks ?? []).map((other) => this.#vendor(other))]) {
      for (const name of names) {
        const model = each && findModel(each.models, name)
        if (model !== undefined) return { vendor: id!, model }
      }
    }
    return undefined
  }

  /** The vendor that a host belongs to: many servers speak the dialect of another vendor. */
  #vendorAt(host: string): string | undefined {
    if (!this.#vendorOf.has(host)) {
      const url = `https://${host}/`
      this.#vendorOf.set(host, this.#list.vendors.find(({ hosts }) => new RegExp(`^(?:${hosts})`).test(url))?.id)
    }
    return this.#vendorOf.get(host)
  }

  #vendor(id: string | undefined): VendorPrices | undefined {
    if (id === undefined) return undefined
    let vendor = this.#vendors.get(id)
    if (vendor === undefined) {
      const packed = this.#list.vendors.find((each) => each.id === id)
      if (packed === undefined) return undefined
      vendor = parseJson(packed.json) as VendorPrices
      this.#vendors.set(id, vendor)
    }
    return vendor
  }
}

function nameOf(model = ''): string {
  return model.length > MAX_NAME_LENGTH ? '' : model
}

/** As it is written, then without what platforms add. A fine-tuned model has prices of its own. */
function findModel<Row extends ModelPrices>(rows: readonly Row[], name: string): Row | undefined {
  const written = name.toLowerCase()
  if (written === '') return undefined
  const rowOf = (lowerName: string) => rows.find(({ match }) => matchesName(match, lowerName))
  const exact = rowOf(written)
  if (exact !== undefined || /(?:^|\/)ft:/.test(written)) return exact
  const reduced = reduceModelName(written, (each) => rowOf(each) !== undefined)
  return reduced === undefined ? undefined : rowOf(reduced)
}
