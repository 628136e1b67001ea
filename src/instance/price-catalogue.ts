import type { PackedVendor, PriceList } from '#models/price-book.ts'
import type { PlanDelta } from '#plan/delta.ts'
import type { PriceFile } from '#store/price-file.ts'

/** Sends workers the prices of models: those of the price package, and those of the operator. Without AI backends it loads and sends nothing. */
export class PriceCatalogue {
  readonly #file: PriceFile | undefined
  readonly #publish: (list: PriceList) => void
  readonly #failed: (cause: unknown) => void
  #vendors: readonly PackedVendor[] | undefined
  #loading: Promise<void> | undefined

  /** @param failed the price package cannot be loaded: only the prices of the operator are known */
  constructor(file: PriceFile | undefined, publish: (list: PriceList) => void, failed: (cause: unknown) => void) {
    this.#file = file
    this.#publish = publish
    this.#failed = failed
    file?.subscribe(() => this.#send())
  }

  /** The prices that the plan needs have been sent. */
  get loaded(): Promise<void> {
    return this.#loading ?? Promise.resolve()
  }

  planChanged({ set }: PlanDelta): void {
    if (this.#loading === undefined && set.some((item) => item.kind === 'backend' && item.type === 'ai')) {
      this.#loading = this.#load()
    }
  }

  async #load(): Promise<void> {
    try {
      const { PACKAGED_PRICES } = await import('#models/packaged-prices.ts')
      this.#vendors = PACKAGED_PRICES
    } catch (error) {
      this.#vendors = []
      this.#failed(error)
    }
    this.#send()
  }

  #send(): void {
    if (this.#vendors !== undefined) this.#publish({ vendors: this.#vendors, own: this.#file?.own ?? [] })
  }
}
