// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

interface IToken {
    function transfer(address to, uint256 amount) external returns (bool);
}

interface IPool {
    function initialize(uint160 sqrtPriceX96) external;
    function tickSpacing() external view returns (int24);
    function slot0() external view returns (uint160, int24, uint16, uint16, uint16, uint8, bool);
    function observations(uint256 index) external view returns (uint32, int56, uint160, bool);
    function observe(uint32[] calldata agos) external view returns (int56[] memory, uint160[] memory);
    function token0() external view returns (address);
    function token1() external view returns (address);
    function mint(address to, int24 lower, int24 upper, uint128 amount, bytes calldata data)
        external
        returns (uint256, uint256);
    function burn(int24 lower, int24 upper, uint128 amount) external returns (uint256, uint256);
}

interface IFees {
    function getFee(address pool) external view returns (uint24);
}

/// @dev Test implementation of the factories of Slipstream and, with `uniswapV3Event`, of Ramses. The pools are Uniswap V3
///   pools whose code the test patches to read their fee from this factory.
contract SlipstreamFactory {
    event PoolCreated(address indexed token0, address indexed token1, int24 indexed tickSpacing, address pool);
    event PoolCreated(
        address indexed token0, address indexed token1, uint24 indexed fee, int24 tickSpacing, address pool
    );

    struct Parameters {
        address factory;
        address token0;
        address token1;
        uint24 fee;
        int24 tickSpacing;
    }

    Parameters public parameters;
    address public swapFeeModule;
    mapping(int24 spacing => uint24) public tickSpacingToFee;
    mapping(address a => mapping(address b => mapping(int24 spacing => address))) public getPool;
    int24[] private _spacings;
    bool private immutable uniswapV3Event;

    constructor(bool uniswapV3Event_) {
        uniswapV3Event = uniswapV3Event_;
        enable(1, 100);
        enable(50, 500);
        enable(200, 3_000);
    }

    function enable(int24 spacing, uint24 fee) public {
        if (tickSpacingToFee[spacing] == 0) _spacings.push(spacing);
        tickSpacingToFee[spacing] = fee;
    }

    function tickSpacings() external view returns (int24[] memory) {
        return _spacings;
    }

    /// @param mark The fee constant in the pool's code, which the test replaces
    function createPool(bytes calldata code, address a, address b, int24 spacing, uint160 price, uint24 mark) external {
        parameters = Parameters(address(this), a, b, mark, spacing);
        bytes memory creationCode = code;
        address pool;
        assembly {
            pool := create(0, add(creationCode, 32), mload(creationCode))
        }
        IPool(pool).initialize(price);
        getPool[a][b][spacing] = getPool[b][a][spacing] = pool;
        if (uniswapV3Event) emit PoolCreated(a, b, tickSpacingToFee[spacing], spacing, pool);
        else emit PoolCreated(a, b, spacing, pool);
    }

    function setSwapFeeModule(address module) external {
        swapFeeModule = module;
    }

    function getSwapFee(address pool) external view returns (uint24) {
        if (swapFeeModule != address(0)) {
            try IFees(swapFeeModule).getFee{gas: 200_000}(pool) returns (uint24 fee) {
                if (fee <= 100_000) return fee;
            } catch {}
        }
        return tickSpacingToFee[IPool(pool).tickSpacing()];
    }
}

/// @dev Fee module with one fee per pool. 420 stands for a fee of zero.
contract CustomFees {
    SlipstreamFactory private immutable factory;
    mapping(address pool => uint24) public customFee;

    constructor(SlipstreamFactory factory_) {
        factory = factory_;
    }

    function setFee(address pool, uint24 fee) external {
        customFee[pool] = fee;
    }

    function getFee(address pool) external view returns (uint24) {
        uint24 fee = customFee[pool];
        if (fee == 420) return 0;
        return fee == 0 ? factory.tickSpacingToFee(IPool(pool).tickSpacing()) : fee;
    }
}

/// @dev Fee module with an undocumented rule.
contract StrangeFees {
    function getFee(address) external view returns (uint24) {
        return uint24(1_000 + block.timestamp % 1_000);
    }
}

/// @dev Fee module whose fee grows with the distance of the price from its time-weighted mean. Emits no events.
abstract contract DynamicFees {
    struct Terms {
        uint24 base;
        uint24 cap;
        uint64 scaling;
        bool hasFirst;
        uint24 first;
    }

    SlipstreamFactory private immutable factory;
    uint256 public defaultScalingFactor;
    uint256 public defaultFeeCap;
    uint32 public secondsAgo = 120;
    mapping(address pool => Terms) internal terms;

    constructor(SlipstreamFactory factory_) {
        factory = factory_;
    }

    function setDefaults(uint256 scaling, uint256 cap, uint32 span) external {
        (defaultScalingFactor, defaultFeeCap, secondsAgo) = (scaling, cap, span);
    }

    function setTerms(address pool, Terms calldata poolTerms) external {
        terms[pool] = poolTerms;
    }

    function getFee(address pool) external view returns (uint24) {
        Terms memory poolTerms = terms[pool];
        if (poolTerms.base == 420) return 0;
        uint256 base = poolTerms.base == 0 ? factory.tickSpacingToFee(IPool(pool).tickSpacing()) : poolTerms.base;
        (, int24 tick, uint16 index, uint16 cardinality,,,) = IPool(pool).slot0();
        if (poolTerms.hasFirst) {
            (uint32 last,,,) = IPool(pool).observations(index);
            if (last != uint32(block.timestamp)) {
                return poolTerms.first == 420 ? 0 : poolTerms.first == 0 ? uint24(base) : poolTerms.first;
            }
        }
        bool hasOwnTerms = poolTerms.scaling != 0;
        uint256 fee = base;
        if (cardinality >= secondsAgo / 2) {
            fee += _distanceFromMean(pool, tick) * (hasOwnTerms ? poolTerms.scaling : defaultScalingFactor) / 1e6;
        }
        uint256 cap = hasOwnTerms ? poolTerms.cap : defaultFeeCap;
        return uint24(fee < cap ? fee : cap);
    }

    function _distanceFromMean(address pool, int24 tick) private view returns (uint256) {
        uint32[] memory agos = new uint32[](2);
        agos[0] = secondsAgo;
        try IPool(pool).observe(agos) returns (int56[] memory sums, uint160[] memory) {
            int24 mean = int24((sums[1] - sums[0]) / int56(uint56(secondsAgo)));
            return uint24(tick > mean ? tick - mean : mean - tick);
        } catch {
            return 0;
        }
    }
}

/// @dev The configuration view since 2026.
contract LateDynamicFees is DynamicFees {
    constructor(SlipstreamFactory factory_) DynamicFees(factory_) {}

    function dynamicFeeConfig(address pool) external view returns (uint24, uint24, uint64, bool, uint24) {
        Terms memory poolTerms = terms[pool];
        return (poolTerms.base, poolTerms.cap, poolTerms.scaling, poolTerms.hasFirst, poolTerms.first);
    }
}

/// @dev The configuration view before 2026.
contract EarlyDynamicFees is DynamicFees {
    constructor(SlipstreamFactory factory_) DynamicFees(factory_) {}

    function dynamicFeeConfig(address pool) external view returns (uint24, uint24, uint64) {
        Terms memory poolTerms = terms[pool];
        return (poolTerms.base, poolTerms.cap, poolTerms.scaling);
    }
}

/// @dev Holds tokens and adds or removes liquidity for any caller.
contract Positions {
    function mint(IPool pool, int24 lower, int24 upper, uint128 amount) external {
        pool.mint(address(this), lower, upper, amount, "");
    }

    function burn(IPool pool, int24 lower, int24 upper, uint128 amount) external {
        pool.burn(lower, upper, amount);
    }

    function uniswapV3MintCallback(uint256 amount0, uint256 amount1, bytes calldata) external {
        if (amount0 > 0) IToken(IPool(msg.sender).token0()).transfer(msg.sender, amount0);
        if (amount1 > 0) IToken(IPool(msg.sender).token1()).transfer(msg.sender, amount1);
    }
}
