import type { Dex } from '../src/swap/domain/dex.ts'

/*
 * Pool factories of the Balancer V2 vault, as published in the repository balancer-deployments (the older ones also in the npm
 * package @balancer-labs/v2-deployments). WeightedPool2Tokens, phantom, linear and managed pools are not supported.
 */

const VAULT = '0xBA12222222228d8Ba445958a75a0704d566BF2C8'

const versions = {
  'balancer-weighted-v1': { kind: 'balancer-weighted' },
  'balancer-weighted-v2': { kind: 'balancer-weighted' },
  'balancer-weighted-v3': { kind: 'balancer-weighted' },
  'balancer-weighted-v4': { kind: 'balancer-weighted' },
  'balancer-stable-v1': { kind: 'balancer-stable', rounding: 'up' },
  'balancer-meta-stable': { kind: 'balancer-stable', rounding: 'up' },
  'balancer-stable-v2': { kind: 'balancer-stable', rounding: 'down' },
  'balancer-composable-v1': { kind: 'balancer-stable', rounding: 'down' },
  'balancer-composable-v2': { kind: 'balancer-stable', rounding: 'down' },
  'balancer-composable-v3': { kind: 'balancer-stable', rounding: 'down' },
  'balancer-composable-v4': { kind: 'balancer-stable', rounding: 'down' },
  'balancer-composable-v5': { kind: 'balancer-stable', rounding: 'down' },
  'balancer-composable-v6': { kind: 'balancer-stable', rounding: 'down' },
} as const satisfies Record<string, Pick<Dex, 'kind' | 'rounding'>>
type Version = keyof typeof versions

const createDexes = (factories: Readonly<Partial<Record<Version, string>>>): readonly Dex[] =>
  (Object.keys(versions) as Version[]).flatMap((name) => {
    const factory = factories[name]
    return factory === undefined ? [] : [{ name, ...versions[name], factory, vault: VAULT }]
  })

/** DEX entries by network. */
export const balancerV2 = {
  eth: createDexes({
    'balancer-weighted-v1': '0x8E9aa87E45e92bad84D5F8DD1bff34Fb92637dE9',
    'balancer-weighted-v2': '0xcC508a455F5b0073973107Db6a878DdBDab957bC',
    'balancer-weighted-v3': '0x5Dd94Da3644DDD055fcf6B3E1aa310Bb7801EB8b',
    'balancer-weighted-v4': '0x897888115Ada5773E02aA29F775430BFB5F34c51',
    'balancer-stable-v1': '0xc66Ba2B6595D3613CCab350C886aCE23866EDe24',
    'balancer-meta-stable': '0x67d27634E44793fE63c467035E31ea8635117cd4',
    'balancer-stable-v2': '0x8df6EfEc5547e31B0eb7d1291B511FF8a2bf987c',
    'balancer-composable-v1': '0xf9ac7B9dF2b3454E841110CcE5550bD5AC6f875F',
    'balancer-composable-v2': '0x85a80afee867aDf27B50BdB7b76DA70f1E853062',
    'balancer-composable-v3': '0xdba127fBc23fb20F5929C546af220A991b5C6e01',
    'balancer-composable-v4': '0xfADa0f4547AB2de89D1304A668C39B3E09Aa7c76',
    'balancer-composable-v5': '0xDB8d758BCb971e482B2C45f7F8a7740283A1bd3A',
    'balancer-composable-v6': '0x5B42eC6D40f7B7965BE5308c70e2603c0281C1E9',
  }),
  arbitrum: createDexes({
    'balancer-weighted-v1': '0x7dFdEF5f355096603419239CE743BfaF1120312B',
    'balancer-weighted-v2': '0x8df6EfEc5547e31B0eb7d1291B511FF8a2bf987c',
    'balancer-weighted-v3': '0xf1665E19bc105BE4EDD3739F88315cC699cc5b65',
    'balancer-weighted-v4': '0xc7E5ED1054A24Ef31D827E6F86caA58B3Bc168d7',
    'balancer-stable-v1': '0x2433477A10FC5d31B9513C638F19eE85CaED53Fd',
    'balancer-meta-stable': '0xEBFD5681977E38Af65A7487DC70B8221D089cCAD',
    'balancer-stable-v2': '0xEF44D6786b2b4d544b7850Fe67CE6381626Bf2D6',
    'balancer-composable-v1': '0xaEb406b0E430BF5Ea2Dc0B9Fe62E4E53f74B3a33',
    'balancer-composable-v2': '0x85a80afee867aDf27B50BdB7b76DA70f1E853062',
    'balancer-composable-v3': '0x1c99324EDC771c82A0DCCB780CC7DDA0045E50e7',
    'balancer-composable-v4': '0x2498A2B0d6462d2260EAC50aE1C3e03F4829BA95',
    'balancer-composable-v5': '0xA8920455934Da4D853faac1f94Fe7bEf72943eF1',
    'balancer-composable-v6': '0x4bdCc2fb18AEb9e2d281b0278D946445070EAda7',
  }),
  base: createDexes({
    'balancer-weighted-v4': '0x4C32a8a8fDa4E24139B51b456B42290f51d6A1c4',
    'balancer-composable-v5': '0x8df317a729fcaA260306d7de28888932cb579b88',
    'balancer-composable-v6': '0x956CCab09898C0AF2aCa5e6C229c3aD4E93d9288',
  }),
  bsc: createDexes({
    'balancer-weighted-v2': '0xC128a9954e6c874eA3d62ce62B468bA073093F25',
    'balancer-weighted-v3': '0x6e4cF292C5349c79cCd66349c3Ed56357dD11B46',
    'balancer-weighted-v4': '0x230a59F4d9ADc147480f03B0D3fFfeCd56c3289a',
    'balancer-composable-v1': '0xf302f9F50958c5593770FDf4d4812309fF77414f',
    'balancer-composable-v2': '0x85a80afee867aDf27B50BdB7b76DA70f1E853062',
    'balancer-composable-v3': '0xacAaC3e6D6Df918Bf3c809DFC7d42de0e4a72d4C',
    'balancer-composable-v4': '0x1802953277FD955f9a254B80Aa0582f193cF1d77',
    'balancer-composable-v5': '0x4fb47126Fa83A8734991E41B942Ac29A3266C968',
    'balancer-composable-v6': '0x6B5dA774890Db7B7b96C6f44e6a4b0F657399E2e',
  }),
  cchain: createDexes({
    'balancer-weighted-v3': '0x94f68b54191F62f781Fe8298A8A5Fa3ed772d227',
    'balancer-weighted-v4': '0x230a59F4d9ADc147480f03B0D3fFfeCd56c3289a',
    'balancer-composable-v4': '0x3B1eb8EB7b43882b385aB30533D9A2BeF9052a98',
    'balancer-composable-v5': '0xE42FFA682A26EF8F25891db4882932711D42e467',
    'balancer-composable-v6': '0xb9F8AB3ED3F3aCBa64Bc6cd2DcA74B7F38fD7B88',
  }),
  matic: createDexes({
    'balancer-weighted-v1': '0x8E9aa87E45e92bad84D5F8DD1bff34Fb92637dE9',
    'balancer-weighted-v2': '0x0e39C3D9b2ec765eFd9c5c70BB290B1fCD8536E3',
    'balancer-weighted-v3': '0x82e4cFaef85b1B6299935340c964C942280327f4',
    'balancer-weighted-v4': '0xFc8a407Bba312ac761D8BFe04CE1201904842B76',
    'balancer-stable-v1': '0xc66Ba2B6595D3613CCab350C886aCE23866EDe24',
    'balancer-meta-stable': '0xdAE7e32ADc5d490a43cCba1f0c736033F2b4eFca',
    'balancer-stable-v2': '0xcA96C4f198d343E251b1a01F3EBA061ef3DA73C1',
    'balancer-composable-v1': '0x136FD06Fa01eCF624C7F2B3CB15742c1339dC2c4',
    'balancer-composable-v2': '0x85a80afee867aDf27B50BdB7b76DA70f1E853062',
    'balancer-composable-v3': '0x7bc6C0E73EDAa66eF3F6E2f27b0EE8661834c6C9',
    'balancer-composable-v4': '0x6Ab5549bBd766A43aFb687776ad8466F8b42f777',
    'balancer-composable-v5': '0xe2fa4e1d17725e72dcdAfe943Ecf45dF4B9E285b',
    'balancer-composable-v6': '0xEAedc32a51c510d35ebC11088fD5fF2b47aACF2E',
  }),
  op: createDexes({
    'balancer-weighted-v1': '0xdAE7e32ADc5d490a43cCba1f0c736033F2b4eFca',
    'balancer-weighted-v2': '0xad901309d9e9DbC5Df19c84f729f429F0189a633',
    'balancer-weighted-v3': '0xA0DAbEBAAd1b243BBb243f933013d560819eB66f',
    'balancer-weighted-v4': '0x230a59F4d9ADc147480f03B0D3fFfeCd56c3289a',
    'balancer-stable-v1': '0x41B953164995c11C81DA73D212ED8Af25741b7Ac',
    'balancer-meta-stable': '0xb08E16cFc07C684dAA2f93C70323BAdb2A6CBFd2',
    'balancer-stable-v2': '0xeb151668006CD04DAdD098AFd0a82e78F77076c3',
    'balancer-composable-v1': '0xf145caFB67081895EE80eB7c04A30Cf87f07b745',
    'balancer-composable-v2': '0x85a80afee867aDf27B50BdB7b76DA70f1E853062',
    'balancer-composable-v3': '0xe2E901AB09f37884BA31622dF3Ca7FC19AA443Be',
    'balancer-composable-v4': '0x1802953277FD955f9a254B80Aa0582f193cF1d77',
    'balancer-composable-v5': '0x043A2daD730d585C44FB79D2614F295D2d625412',
    'balancer-composable-v6': '0x4bdCc2fb18AEb9e2d281b0278D946445070EAda7',
  }),
} as const
