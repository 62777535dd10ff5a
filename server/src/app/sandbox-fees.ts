/** An account of the well-known development seed phrase. */
const EVM_FEES = '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720'

const feesByFamily: Readonly<Record<string, string>> = {
  /** The sandbox bank's account. */
  solana: 'CcgRBxHE3zavTkRJ8HbAPJgt1LxXeuAryHG2i344AGrg',
  /** An account whose key does not exist. */
  sui: `0x${'fee'.repeat(21)}0`,
}

/** The sandbox's address for swap fees on networks of a family. */
export const sandboxFeeAddress = (family: string): string => feesByFamily[family] ?? EVM_FEES
