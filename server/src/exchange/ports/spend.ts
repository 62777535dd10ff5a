import type { Asset } from '../../core/domain/asset.ts'

/** Which key of the house: deposit address `index`, the hot wallet, or its change addresses. */
export type KeyPath = Readonly<{ branch: 'deposit' | 'hot' | 'change'; index: number }>

/** An output of the house that the bitcoin family can spend. */
export type Utxo = Readonly<{ outpoint: string; units: bigint; path: KeyPath }>

export type Payment = Readonly<{ payoutId: string; address: string; memo: string | null; asset: Asset; units: bigint }>
