// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IPoolManager, IUniswapV3Pool, IWrapped} from "../src/Venues.sol";
import {IERC20, NATIVE, Transfers} from "../src/Transfers.sol";
import {Assertions} from "./Assertions.sol";

interface IPairFactory {
    function createPair(address a, address b) external returns (address);
}

interface IPairLiquidity {
    function mint(address to) external returns (uint256);
}

interface IUniswapV3Factory {
    function createPool(address a, address b, uint24 fee) external returns (address);
}

interface IUniswapV3Liquidity {
    function initialize(uint160 sqrtPriceX96) external;
    function mint(address to, int24 lower, int24 upper, uint128 liquidity, bytes calldata data)
        external
        returns (uint256, uint256);
}

interface IAlgebra {
    function createPool(address a, address b) external returns (address);
    function setFactory(address factory) external;
    function mint(address sender, address to, int24 lower, int24 upper, uint128 liquidity, bytes calldata data)
        external
        returns (uint256, uint256, uint128);
}

interface IManagerLiquidity {
    struct Params {
        int24 tickLower;
        int24 tickUpper;
        int256 liquidityDelta;
        bytes32 salt;
    }

    function initialize(IPoolManager.PoolKey calldata key, uint160 sqrtPriceX96) external returns (int24);
    function modifyLiquidity(IPoolManager.PoolKey calldata key, Params calldata params, bytes calldata hookData)
        external
        payable
        returns (int256);
}

interface IBalancer {
    struct JoinPoolRequest {
        address[] assets;
        uint256[] maxAmountsIn;
        bytes userData;
        bool fromInternalBalance;
    }

    function create(
        string calldata name,
        string calldata symbol,
        address[] calldata tokens,
        uint256[] calldata weights,
        uint256 swapFee,
        address owner
    ) external returns (address);
    function getPoolId() external view returns (bytes32);
    function joinPool(bytes32 poolId, address sender, address recipient, JoinPoolRequest calldata request) external;
}

/// @dev Deploys the protocols' published bytecode and pools with liquidity at a price of one.
abstract contract RealVenues is Assertions {
    uint160 internal constant PRICE_ONE = 1 << 96;

    string private venueCode;
    IWrapped internal wrapped;
    address private uniswapV2;
    address private uniswapV3;
    address internal manager;
    address private managerLiquidity;
    address private algebra;
    address internal vault;
    address private weighted;

    function deployVenues() internal {
        venueCode = vm.readFile(".swapyard/venues.json");
        wrapped = IWrapped(deployVenue(".wrapped", ""));
        uniswapV2 = deployVenue(".uniswapV2Factory", abi.encode(address(0)));
        uniswapV3 = deployVenue(".uniswapV3Factory", "");
        manager = deployVenue(".uniswapV4Manager", abi.encode(address(this)));
        managerLiquidity = deployVenue(".uniswapV4Liquidity", abi.encode(manager));
        address factory = vm.computeCreateAddress(address(this), vm.getNonce(address(this)) + 1);
        address algebraDeployer = deployVenue(".algebraDeployer", abi.encode(factory, address(1)));
        algebra = deployVenue(".algebraFactory", abi.encode(algebraDeployer));
        address authorizer = deployVenue(".balancerAuthorizer", abi.encode(address(this)));
        vault = deployVenue(".balancerVault", abi.encode(authorizer, address(wrapped), 0, 0));
        weighted = deployVenue(".balancerWeightedFactory", abi.encode(vault));
    }

    function deployVenue(string memory name, bytes memory arguments) internal returns (address deployed) {
        return deployCode(abi.encodePacked(vm.parseJsonBytes(venueCode, name), arguments));
    }

    /// @dev Creation code from generated/: the tests run the published bytecode.
    function publishedCode(string memory name) internal view returns (bytes memory) {
        return vm.parseJsonBytes(vm.readFile(string.concat("generated/", name, ".json")), ".bytecode");
    }

    function deployCode(bytes memory code) internal returns (address deployed) {
        assembly ("memory-safe") {
            deployed := create(0, add(code, 32), mload(code))
        }
        assertTrue(deployed != address(0), "deployed");
    }

    function uniswapV2Pair(address a, address b, uint256 amountA, uint256 amountB) internal returns (address pair) {
        pair = IPairFactory(uniswapV2).createPair(a, b);
        mintTo(a, pair, amountA);
        mintTo(b, pair, amountB);
        IPairLiquidity(pair).mint(address(this));
    }

    function uniswapV3Pool(address a, address b, uint24 fee, int24 width, uint128 liquidity)
        internal
        returns (address pool)
    {
        pool = IUniswapV3Factory(uniswapV3).createPool(a, b, fee);
        IUniswapV3Liquidity(pool).initialize(PRICE_ONE);
        IUniswapV3Liquidity(pool).mint(address(this), -width, width, liquidity, abi.encode(a, b));
    }

    function algebraPool(address a, address b, int24 width, uint128 liquidity) internal returns (address pool) {
        pool = IAlgebra(algebra).createPool(a, b);
        IUniswapV3Liquidity(pool).initialize(PRICE_ONE);
        IAlgebra(pool).mint(address(this), address(this), -width, width, liquidity, abi.encode(a, b));
    }

    function uniswapV4Pool(address a, address b, uint24 fee, int24 spacing, int24 width, int256 liquidity) internal {
        (address currency0, address currency1) = a < b ? (a, b) : (b, a);
        IPoolManager.PoolKey memory key = IPoolManager.PoolKey(currency0, currency1, fee, spacing, address(0));
        IManagerLiquidity(manager).initialize(key, PRICE_ONE);
        if (currency0 != NATIVE) {
            mintTo(currency0, address(this), uint256(liquidity));
            IERC20(currency0).approve(managerLiquidity, type(uint256).max);
        }
        mintTo(currency1, address(this), uint256(liquidity));
        IERC20(currency1).approve(managerLiquidity, type(uint256).max);
        uint256 value = currency0 == NATIVE ? uint256(liquidity) : 0;
        vm.deal(address(this), address(this).balance + value);
        IManagerLiquidity(managerLiquidity).modifyLiquidity{value: value}(
            key, IManagerLiquidity.Params(-width, width, liquidity, 0), ""
        );
    }

    function balancerPool(address a, address b, uint256 amountA, uint256 amountB) internal returns (bytes32 poolId) {
        bool isSorted = a < b;
        address[] memory tokens = new address[](2);
        uint256[] memory amounts = new uint256[](2);
        uint256[] memory weights = new uint256[](2);
        (tokens[0], tokens[1]) = isSorted ? (a, b) : (b, a);
        (amounts[0], amounts[1]) = isSorted ? (amountA, amountB) : (amountB, amountA);
        (weights[0], weights[1]) = (0.8e18, 0.2e18);
        address pool = IBalancer(weighted).create("pool", "P", tokens, weights, 0.003e18, address(this));
        poolId = IBalancer(pool).getPoolId();
        for (uint256 i = 0; i < 2; i++) {
            mintTo(tokens[i], address(this), amounts[i]);
            IERC20(tokens[i]).approve(vault, amounts[i]);
        }
        bytes memory init = abi.encode(0, amounts);
        IBalancer(vault)
            .joinPool(poolId, address(this), address(this), IBalancer.JoinPoolRequest(tokens, amounts, init, false));
    }

    /// @dev Mints a test token, or wraps newly created native coin.
    function mintTo(address token, address to, uint256 amount) internal {
        if (token == address(wrapped)) {
            vm.deal(address(this), address(this).balance + amount);
            wrapped.deposit{value: amount}();
            IERC20(token).transfer(to, amount);
        } else {
            (bool minted,) = token.call(abi.encodeWithSignature("mint(address,uint256)", to, amount));
            assertTrue(minted, "mint");
        }
    }

    function uniswapV3MintCallback(uint256 amount0, uint256 amount1, bytes calldata data) external {
        payBoth(amount0, amount1, data);
    }

    function algebraMintCallback(uint256 amount0, uint256 amount1, bytes calldata data) external {
        payBoth(amount0, amount1, data);
    }

    function payBoth(uint256 amount0, uint256 amount1, bytes calldata data) private {
        (address a, address b) = abi.decode(data, (address, address));
        mintTo(a < b ? a : b, msg.sender, amount0);
        mintTo(a < b ? b : a, msg.sender, amount1);
    }

    function uniswapV3SwapCallback(int256 amount0, int256 amount1, bytes calldata data) external {
        mintTo(abi.decode(data, (address)), msg.sender, uint256(amount0 > 0 ? amount0 : amount1));
    }

    function algebraSwapCallback(int256 amount0, int256 amount1, bytes calldata data) external {
        mintTo(abi.decode(data, (address)), msg.sender, uint256(amount0 > 0 ? amount0 : amount1));
    }

    receive() external payable {}
}
