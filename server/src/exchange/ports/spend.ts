import type { Asset } from '../../core/domain/asset.ts'

/** One of our keys: deposit address `index`, a hot wallet, or a change address. */
export type KeyPath = Readonly<{ branch: 'deposit' | 'hot' | 'change'; index: number }>

/** An unspent output of ours (bitcoin family, monero). */
export type Utxo = Readonly<{ outpoint: string; units: bigint; path: KeyPath }>
/** `deposit`: the transfer that made it; null or absent = no deposit, or unknown. */
export type RecordedUtxo = Utxo & Readonly<{ deposit?: Readonly<{ identity: string; txHash: string }> | null }>

export type Payment = Readonly<{ payoutId: string; address: string; memo: string | null; asset: Asset; units: bigint }>
