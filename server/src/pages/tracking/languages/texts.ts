import type { ExchangeStatus, StatusReason } from '../../../exchange/domain/exchange.ts'

/** Forms of a text by the plural rules of its language. */
export type PluralTexts = Readonly<Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }>

/** Every text of the tracking page. `{name}` is replaced; a text is always a whole sentence or a whole label. */
export type Texts = Readonly<{
  /** The language by its own name. */
  language: string
  languages: string
  heading: string
  statuses: Readonly<Record<ExchangeStatus, string>>
  /** What happens in a status. */
  now: Readonly<Record<ExchangeStatus, string>>
  /** Pending after the expiry: blocks up to then are still being read. */
  timeOver: Readonly<{ heading: string; now: string }>
  /** Pending again: the payment left the chain. */
  paymentVanished: string
  /** Finished without a recipient. */
  credited: string
  reasons: Readonly<Record<Exclude<StatusReason, 'SCREENING'> | 'CANCELLED', string>>
  /** OPERATOR after the decision. */
  decided: string
  doNotPay: string
  steps: Readonly<{
    heading: string
    payment: string
    confirmations: string
    exchange: string
    payout: string
    refund: string
  }>
  confirmations: PluralTexts
  expectedDuration: string
  deadlines: string
  fixedEnds: string
  fixedNote: string
  fixedOver: string
  expires: string
  expiryNote: string
  floatingNote: string
  pay: Readonly<{
    heading: string
    amount: string
    network: string
    onlyThis: string
    address: string
    memo: string
    qr: string
    openWallet: string
    copy: string
    copied: string
  }>
  details: Readonly<{
    heading: string
    youSend: string
    youGet: string
    youGetFixed: string
    recipient: string
    creditedToService: string
    refundAddress: string
    created: string
    id: string
    linkNote: string
    privateNote: string
  }>
  deposits: Readonly<{
    heading: string
    number: string
    status: string
    received: string
    paidOut: string
    sentBack: string
    payin: string
    payout: string
    refund: string
  }>
  refund: Readonly<{
    heading: string
    intro: string
    warning: string
    address: string
    memoHint: string
    next: string
    confirmHeading: string
    confirmNote: string
    confirm: string
    change: string
    askService: string
  }>
  refundErrors: Readonly<{
    invalid: string
    invalidPrivate: string
    memoRequired: string
    memoInvalid: string
    ours: string
    restricted: string
    alreadyNamed: string
    failed: string
  }>
  failures: Readonly<{
    notFound: string
    notFoundNote: string
    tooMany: string
    tooManyNote: string
    unavailable: string
    unavailableNote: string
  }>
}>
