import { exchangeFamilies, type Family, type Network } from '../core/domain/network.ts'

type Terms = Readonly<{
  /** What numbers the blocks. */
  height: string
  block: string
  signer: string
  step: string
  program: string
}>

const ofBlocks: Terms = { height: 'Block', block: 'block', signer: 'Signer', step: 'Instruction', program: 'Program' }
const ofFamilies: Readonly<Partial<Record<Family, Terms>>> = {
  solana: { ...ofBlocks, height: 'Slot' },
  sui: { height: 'Checkpoint', block: 'checkpoint', signer: 'Sender', step: 'Command', program: 'Package' },
}

/** The words of a network family for what all families have. */
export const termsOf = ({ family }: Pick<Network, 'family'>): Terms => ofFamilies[family] ?? ofBlocks

/** Networks without an adapter of the exchange half have swaps only. */
export const paymentTerm = ({ family }: Pick<Network, 'family'>): string =>
  exchangeFamilies.some((one) => one === family) ? 'a deposit' : 'a swap'
