import { balancerV2 } from './balancer-v2.ts'
import { defineDexes } from './define-dexes.ts'
import { curveStableswapNg, sushiswapV2, sushiswapV3, uniswapV2, uniswapV3, uniswapV4 } from './deployments.ts'

/** Addresses as published by each project. The server checks each on chain before use (check-dexes.ts). */
export const matic = defineDexes({
  network: 'matic',
  wrapped: '0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270',
  connectors: [
    // USDC
    '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359',
    // USDT
    '0xc2132D05D31c914a87C6611C10748AEb04B58e8F',
    // DAI
    '0x8f3Cf7ad23Cd3CaDbD9735AFf958023239c6A063',
    // WBTC
    '0x1BFD67037B42Cf73acF2047067bd4F2C47D9BfD6',
    // WETH
    '0x7ceB23fD6bC0adD59E62ac25578270cFf1b9f619',
    // USDC.e
    '0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174',
    // wstETH
    '0x03b54A6e9a984069379fae1a4fC4dBAE93B3bCCD',
  ],
  stablecoin: '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359',
  dexes: [
    {
      name: 'dystopia',
      kind: 'solidly',
      fork: 'solidly',
      feePpm: 500,
      factory: '0x1d21Db6cde1b18c7E47B0F7F42f4b3F68b9beeC9',
      initCodeHash: '0x009bce6d7eb00d3d075e5bd9851068137f44bba159f1cde806a268e20baaf2e8',
    },
    {
      name: 'quickswap-v2',
      kind: 'uniswap-v2',
      factory: '0x5757371414417b8C6CAad45bAeF941aBc7d3Ab32',
      feePpm: 3_000,
      initCodeHash: '0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f',
    },
    {
      name: 'quickswap-v3',
      kind: 'algebra',
      factory: '0x411b0fAcC3489691f28ad58c47006AF5E3Ab3A28',
      initCodeHash: '0x6ec6c9c8091d160c0aa74b2b14ba9c1717e95093bd3ac085cee99a49aab294a4',
      deployer: '0x2d98e2fa9da15aa6dc9581ab097ced7af697cb92',
    },
    {
      name: 'retro',
      kind: 'uniswap-v3',
      factory: '0x91e1B99072f238352f59e58de875691e20Dc19c1',
      initCodeHash: '0x817e07951f93017a93327ac8cc31e946540203a19e1ecc37bc1761965c2d1090',
    },
    sushiswapV2('0xc35DADB65012eC5796536bD9864eD8773aBc74C4'),
    sushiswapV3('0x917933899c6a5F8E37F31E19f92CdBFF7e8FF0e2'),
    uniswapV2('0x9e5A52f57b3038F1B8EeE45F28b3C1967e22799C'),
    uniswapV3('0x1F98431c8aD98523631AE4a59f267346ea31F984'),
    uniswapV4('0x67366782805870060151383f4bbff9dab53e5cd6'),
    {
      name: 'curve-factory',
      kind: 'curve-stable',
      factory: '0x722272d36ef0da72ff51c5a65db7b870e2e8d4ee',
      implementations: [
        '0x571FF5b7b346F706aa48d696a9a4a288e9Bb4091',
        '0x8101E6760130be2C8Ace79643AB73500571b7162',
        '0x493084cA44C779Af27a416ac1F71e3823BF21b53',
        '0xCC9fd96C26c450Dd4580893afF75efd5cb6C12Fc',
        '0x991b05d5316fa3A2C053F84658b84987cd5c9970',
        '0xAc273d5b4FC06625d8b1abA3BE8De15bDFb8E39f',
      ],
    },
    curveStableswapNg('0x1764ee18e8b3cca4787249ceb249356192594585'),
    ...balancerV2.matic,
  ],
})
