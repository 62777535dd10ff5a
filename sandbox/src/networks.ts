/** One EVM network of the sandbox. */
export type EvmNetwork = Readonly<{
  network: string
  /** Ticker of the native coin. */
  nativeTicker: string
  /**
   * The real chain's id (EIP-155). The sandbox adds an offset, so that no sandbox signature is valid on the real chain.
   */
  realChainId: number
  /** Base fee of every block in wei per gas: close to the real chain's usual fee. */
  baseFeeWei: bigint
}>

export const sandboxChainIdOffset = 3_133_700_000

const gwei = 1_000_000_000n

export const evmNetworks: readonly EvmNetwork[] = [
  { network: 'eth', nativeTicker: 'eth', realChainId: 1, baseFeeWei: 2n * gwei },
  { network: 'arbitrum', nativeTicker: 'eth', realChainId: 42_161, baseFeeWei: gwei / 100n },
  { network: 'base', nativeTicker: 'eth', realChainId: 8453, baseFeeWei: gwei / 100n },
  { network: 'bsc', nativeTicker: 'bnb', realChainId: 56, baseFeeWei: gwei / 10n },
  { network: 'cchain', nativeTicker: 'avax', realChainId: 43_114, baseFeeWei: gwei },
  { network: 'celo', nativeTicker: 'celo', realChainId: 42_220, baseFeeWei: 25n * gwei },
  { network: 'linea', nativeTicker: 'eth', realChainId: 59_144, baseFeeWei: gwei / 20n },
  { network: 'matic', nativeTicker: 'pol', realChainId: 137, baseFeeWei: 30n * gwei },
  { network: 'op', nativeTicker: 'eth', realChainId: 10, baseFeeWei: gwei / 100n },
  { network: 'sei', nativeTicker: 'sei', realChainId: 1329, baseFeeWei: gwei },
  { network: 'sonic', nativeTicker: 's', realChainId: 146, baseFeeWei: 50n * gwei },
  { network: 'uni', nativeTicker: 'eth', realChainId: 130, baseFeeWei: gwei / 100n },
]

/** Address prefixes on regtest (Bitcoin Core and Litecoin Core, `chainparams.cpp`). */
export const bitcoinNetworks = {
  btc: { bech32: 'bcrt', pubKeyHash: 0x6f, scriptHash: 0xc4, wif: 0xef },
  ltc: { bech32: 'rltc', pubKeyHash: 0x6f, scriptHash: 0x3a, wif: 0xef },
} as const
