/** A page of rows, in the form in which they are answered. */
export type Rows = Readonly<{ data: readonly Readonly<Record<string, unknown>>[]; next: string | null }>
export type PageRequest = Readonly<{ cursor: string | null; limit: number }>

export type ExchangeFilter = Readonly<{
  /** An id, address or hash in several encodings. */
  find: readonly string[] | null
  status: string | null
  partner: string | null
  from: Readonly<{ currency: string; network: string; units: bigint | null }> | null
}>

export type ExchangeDetails = Readonly<{
  exchange: Readonly<Record<string, unknown>>
  plan: unknown
  parts: readonly Readonly<Record<string, unknown>>[]
  ledger: readonly Readonly<Record<string, unknown>>[]
}>

/** Lists by key range: no page reads a whole table. */
export interface AdminLists {
  exchanges(filter: ExchangeFilter, page: PageRequest): Promise<Rows>
  exchangeDetails(exchangeId: string): Promise<ExchangeDetails | null>
  entries(exchangeId: string): Promise<Rows['data']>
  held(page: PageRequest): Promise<Rows>
  payouts(filter: Readonly<{ state: string | null; isHeld: boolean }>, page: PageRequest): Promise<Rows>
  queue(network: string, page: PageRequest): Promise<Rows>
  unclaimed(page: PageRequest): Promise<Rows>
  swaps(
    /** The hash in several encodings. */
    filter: Readonly<{ status: string | null; hashes: readonly string[] | null; partner: string | null }>,
    page: PageRequest,
  ): Promise<Rows>
  /** By name, with keys, recipients, fee addresses and monthly payouts. `find`: a part of the name, or the id. */
  partners(find: string | null, page: PageRequest): Promise<Rows>
  /** What we owe a partner, by currency. */
  balances(partnerId: string, page: PageRequest): Promise<Rows>
  /** Swap fees above zero at our addresses, by address and token. */
  swapFees(page: PageRequest): Promise<Rows>
  /** Swap fees without a known partner, newest first. */
  unclaimedFees(page: PageRequest): Promise<Rows>
  webhooks(filter: Readonly<{ partner: string | null }>, page: PageRequest): Promise<Rows>
  webhookDeliveries(webhookId: string, page: PageRequest): Promise<Rows>
  audit(filter: Readonly<{ subject: string | null; actor: string | null }>, page: PageRequest): Promise<Rows>
  requests(isOpen: boolean, page: PageRequest): Promise<Rows>
  sessions(operatorId: string | null, page: PageRequest): Promise<Rows>
  pauses(): Promise<Rows['data']>
  rescans(limit: number): Promise<Rows['data']>
  cursors(): Promise<
    readonly Readonly<{
      network: string
      height: string
      scannedAt: Date
      caughtUpAt: Date | null
      lagSeconds: number | null
    }>[]
  >
  pools(): Promise<readonly Readonly<{ network: string; height: string; savedAt: Date }>[]>
  /** Number of rows that wait, at most 1000 each, and since when the longest waiting step is due. */
  waiting(): Promise<Readonly<{ executions: number; payouts: number; requests: number; oldestStepAt: Date | null }>>
  /**
   * Within the last 24 hours: units of the deposits that were credited and still are, by asset, and the exchanges that were created, by
   * hours with at least one.
   */
  lastDay(): Promise<
    Readonly<{
      volume: readonly Readonly<{ assetId: string; units: bigint }>[]
      hours: readonly Readonly<{ at: Date; created: number; finished: number }>[]
    }>
  >
}
