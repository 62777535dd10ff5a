// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

// Each call of a harness sets up one pool of the real contracts, executes the trades in sequence, and returns the outputs: zero if the
// contract reverted, paid nothing, or did not take the whole input. Tests use eth_call, so every call starts from the same chain state.

contract Token {
    string public constant name = "Token";
    string public constant symbol = "TOKEN";
    uint8 public decimals = 18;
    uint256 public constant totalSupply = type(uint256).max;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    constructor() {
        balanceOf[msg.sender] = totalSupply;
    }

    function setDecimals(uint8 value) external {
        decimals = value;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        return true;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        balanceOf[msg.sender] -= value;
        balanceOf[to] += value;
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        balanceOf[from] -= value;
        balanceOf[to] += value;
        return true;
    }
}

/// Owns the whole supply of the tokens, which are sorted by address, and the contracts that it deploys.
contract Harness {
    Token[] public tokens;

    constructor(uint256 count) payable {
        for (uint256 i = 0; i < count; i++) {
            tokens.push(new Token());
            for (uint256 j = i; j > 0 && address(tokens[j]) < address(tokens[j - 1]); j--) {
                (tokens[j], tokens[j - 1]) = (tokens[j - 1], tokens[j]);
            }
        }
    }

    receive() external payable {}

    event Deployed(address at);

    function deploy(bytes memory code) external {
        address at;
        assembly {
            at := create(0, add(code, 32), mload(code))
        }
        require(at != address(0), "not deployed");
        emit Deployed(at);
    }

    function execute(address target, bytes calldata data) external {
        (bool done, ) = target.call(data);
        require(done, "not executed");
    }
}

struct Trade {
    bool zeroForOne;
    uint256 amountIn;
}

interface IPair {
    function mint(address to) external returns (uint256);
    function swap(uint256 amount0Out, uint256 amount1Out, address to, bytes calldata data) external;
}

interface IPairFactory {
    function createPair(address a, address b) external returns (address);
}

contract ProductHarness is Harness(2) {
    struct Claim {
        bool zeroForOne;
        uint256 amountIn;
        uint256 amountOut;
    }

    /// Whether each claim is the pair's maximum output: the pair pays it, and reverts for one unit more.
    function run(IPairFactory factory, uint256 reserve0, uint256 reserve1, Claim[] calldata claims)
        external
        returns (bool[] memory exact)
    {
        IPair pair = IPair(factory.createPair(address(tokens[0]), address(tokens[1])));
        tokens[0].transfer(address(pair), reserve0);
        tokens[1].transfer(address(pair), reserve1);
        pair.mint(address(this));
        exact = new bool[](claims.length);
        for (uint256 i = 0; i < claims.length; i++) {
            Claim memory claim = claims[i];
            claim.amountOut++;
            exact[i] = !attempt(pair, claim);
            claim.amountOut--;
            if (claim.amountOut > 0) exact[i] = attempt(pair, claim) && exact[i];
        }
    }

    function attempt(IPair pair, Claim memory claim) private returns (bool) {
        try this.trade(pair, claim) {
            return true;
        } catch {
            return false;
        }
    }

    function trade(IPair pair, Claim calldata claim) external {
        tokens[claim.zeroForOne ? 0 : 1].transfer(address(pair), claim.amountIn);
        pair.swap(claim.zeroForOne ? 0 : claim.amountOut, claim.zeroForOne ? claim.amountOut : 0, address(this), "");
    }
}

struct Position {
    int24 lower;
    int24 upper;
    uint128 liquidity;
}

interface IConcentrated {
    function initialize(uint160 price) external;
    function swap(address recipient, bool zeroForOne, int256 amount, uint160 limit, bytes calldata data)
        external
        returns (int256, int256);
}

interface IUniswapV3 {
    function enableFeeAmount(uint24 fee, int24 tickSpacing) external;
    function createPool(address a, address b, uint24 fee) external returns (address);
    function mint(address recipient, int24 lower, int24 upper, uint128 amount, bytes calldata data) external;
}

interface IAlgebraDeployer {
    function deploy(address dataStorage, address factory, address token0, address token1) external returns (address);
}

interface IAlgebra {
    function createPool(address a, address b, bytes calldata data) external returns (address);
    function mint(address sender, address recipient, int24 lower, int24 upper, uint128 amount, bytes calldata data) external;
    function setFee(uint16 fee) external;
    function setTickSpacing(int24 spacing) external;
}

contract ConcentratedHarness is Harness(2) {
    uint160 private constant MIN_PRICE = 4295128739;
    uint160 private constant MAX_PRICE = 1461446703485210103287273052203988822378723970342;
    address public pool;

    function uniswapV3(
        IUniswapV3 factory,
        uint24 fee,
        int24 spacing,
        uint160 price,
        Position[] calldata positions,
        Trade[] calldata trades
    ) external returns (uint256[] memory) {
        try factory.enableFeeAmount(fee, spacing) {} catch {}
        pool = factory.createPool(address(tokens[0]), address(tokens[1]), fee);
        IConcentrated(pool).initialize(price);
        for (uint256 i = 0; i < positions.length; i++) {
            IUniswapV3(pool).mint(address(this), positions[i].lower, positions[i].upper, positions[i].liquidity, "");
        }
        return run(trades);
    }

    error At(address pool);

    /// Called in a transaction, because the configured fee applies from the first swap of a later block. The harness replaces the published
    /// factory, which computes pool addresses from a different build than the one in its deployer. Each pool needs new tokens.
    function algebraV1(
        IAlgebraDeployer deployer,
        bytes memory storageCode,
        bytes calldata configure,
        uint160 price,
        Position[] calldata positions
    ) external {
        renew();
        address expected;
        try this.simulateDeploy(deployer) {} catch (bytes memory reason) {
            assembly {
                expected := mload(add(reason, 36))
            }
        }
        bytes memory code = bytes.concat(storageCode, abi.encode(expected));
        address dataStorage;
        assembly {
            dataStorage := create(0, add(code, 32), mload(code))
        }
        (bool done, ) = dataStorage.call(configure);
        require(done, "not configured");
        pool = deployer.deploy(dataStorage, address(this), address(tokens[0]), address(tokens[1]));
        require(pool == expected);
        IConcentrated(pool).initialize(price);
        mintAlgebra(positions);
    }

    function renew() public {
        (tokens[0], tokens[1]) = (new Token(), new Token());
        if (address(tokens[1]) < address(tokens[0])) (tokens[0], tokens[1]) = (tokens[1], tokens[0]);
    }

    /// Called in a transaction: takes an existing pool of the current tokens.
    function adopt(address deployed, uint160 price, Position[] calldata positions) external {
        pool = deployed;
        IConcentrated(pool).initialize(price);
        mintAlgebra(positions);
    }

    /// Deploys a pool and reverts with its address.
    function simulateDeploy(IAlgebraDeployer deployer) external {
        revert At(deployer.deploy(address(1), address(this), address(tokens[0]), address(tokens[1])));
    }

    function algebraIntegral(
        IAlgebra factory,
        uint16 fee,
        int24 spacing,
        uint160 price,
        Position[] calldata positions,
        Trade[] calldata trades
    ) external returns (uint256[] memory) {
        pool = factory.createPool(address(tokens[0]), address(tokens[1]), "");
        IConcentrated(pool).initialize(price);
        IAlgebra(pool).setFee(fee);
        if (spacing != 60) IAlgebra(pool).setTickSpacing(spacing);
        mintAlgebra(positions);
        return run(trades);
    }

    function mintAlgebra(Position[] calldata positions) private {
        for (uint256 i = 0; i < positions.length; i++) {
            IAlgebra(pool).mint(
                address(this), address(this), positions[i].lower, positions[i].upper, positions[i].liquidity, ""
            );
        }
    }

    function run(Trade[] calldata trades) public returns (uint256[] memory outputs) {
        outputs = new uint256[](trades.length);
        for (uint256 i = 0; i < trades.length; i++) {
            try this.trade(trades[i]) returns (uint256 out) {
                outputs[i] = out;
            } catch {}
        }
    }

    function trade(Trade calldata order) external returns (uint256) {
        uint160 limit = order.zeroForOne ? MIN_PRICE + 1 : MAX_PRICE - 1;
        (int256 amount0, int256 amount1) =
            IConcentrated(pool).swap(address(this), order.zeroForOne, int256(order.amountIn), limit, "");
        (int256 input, int256 output) = order.zeroForOne ? (amount0, -amount1) : (amount1, -amount0);
        require(input == int256(order.amountIn) && output > 0);
        return uint256(output);
    }

    /// Handles the mint and swap callbacks of all pools: positive amounts are owed to the pool.
    fallback() external {
        (int256 owed0, int256 owed1) = abi.decode(msg.data[4:68], (int256, int256));
        if (owed0 > 0) tokens[0].transfer(msg.sender, uint256(owed0));
        if (owed1 > 0) tokens[1].transfer(msg.sender, uint256(owed1));
    }
}

struct PoolKey {
    address currency0;
    address currency1;
    uint24 fee;
    int24 tickSpacing;
    address hooks;
}

struct SwapParams {
    bool zeroForOne;
    int256 amountSpecified;
    uint160 limit;
}

struct ModifyParams {
    int24 lower;
    int24 upper;
    int256 liquidityDelta;
    bytes32 salt;
}

interface IPoolManager {
    function initialize(PoolKey calldata key, uint160 price) external returns (int24);
    function unlock(bytes calldata data) external returns (bytes memory);
    function modifyLiquidity(PoolKey calldata key, ModifyParams calldata params, bytes calldata hookData)
        external
        returns (int256 delta, int256 fees);
    function swap(PoolKey calldata key, SwapParams calldata params, bytes calldata hookData) external returns (int256);
    function sync(address currency) external;
    function settle() external payable returns (uint256);
    function take(address currency, address to, uint256 amount) external;
    function setProtocolFeeController(address controller) external;
    function setProtocolFee(PoolKey calldata key, uint24 fee) external;
}

contract ManagerHarness is Harness(2) {
    uint160 private constant MIN_PRICE = 4295128739;
    uint160 private constant MAX_PRICE = 1461446703485210103287273052203988822378723970342;

    struct Setup {
        IPoolManager manager;
        bool native;
        uint24 fee;
        uint24 protocolFee;
        int24 spacing;
        uint160 price;
    }

    function run(Setup calldata setup, Position[] calldata positions, Trade[] calldata trades)
        external
        returns (uint256[] memory)
    {
        address first = setup.native ? address(0) : address(tokens[0]);
        PoolKey memory key = PoolKey(first, address(tokens[1]), setup.fee, setup.spacing, address(0));
        setup.manager.initialize(key, setup.price);
        setup.manager.setProtocolFeeController(address(this));
        if (setup.protocolFee > 0) setup.manager.setProtocolFee(key, setup.protocolFee);
        bytes memory result = setup.manager.unlock(abi.encode(key, positions, trades));
        return abi.decode(result, (uint256[]));
    }

    function unlockCallback(bytes calldata data) external returns (bytes memory) {
        (PoolKey memory key, Position[] memory positions, Trade[] memory trades) =
            abi.decode(data, (PoolKey, Position[], Trade[]));
        for (uint256 i = 0; i < positions.length; i++) {
            ModifyParams memory params =
                ModifyParams(positions[i].lower, positions[i].upper, int256(uint256(positions[i].liquidity)), bytes32(i));
            (int256 delta, ) = IPoolManager(msg.sender).modifyLiquidity(key, params, "");
            settle(IPoolManager(msg.sender), key, delta);
        }
        uint256[] memory outputs = new uint256[](trades.length);
        for (uint256 i = 0; i < trades.length; i++) {
            try this.trade(IPoolManager(msg.sender), key, trades[i]) returns (uint256 out) {
                outputs[i] = out;
            } catch {}
        }
        return abi.encode(outputs);
    }

    function trade(IPoolManager manager, PoolKey calldata key, Trade calldata order) external returns (uint256) {
        uint160 limit = order.zeroForOne ? MIN_PRICE + 1 : MAX_PRICE - 1;
        int256 delta = manager.swap(key, SwapParams(order.zeroForOne, -int256(order.amountIn), limit), "");
        settle(manager, key, delta);
        (int128 amount0, int128 amount1) = (int128(delta >> 128), int128(delta));
        (int128 input, int128 output) = order.zeroForOne ? (-amount0, amount1) : (-amount1, amount0);
        require(input == int256(order.amountIn) && output > 0);
        return uint256(int256(output));
    }

    function settle(IPoolManager manager, PoolKey memory key, int256 delta) private {
        settleOne(manager, key.currency0, int128(delta >> 128));
        settleOne(manager, key.currency1, int128(delta));
    }

    function settleOne(IPoolManager manager, address currency, int128 delta) private {
        if (delta > 0) manager.take(currency, address(this), uint256(int256(delta)));
        if (delta >= 0) return;
        uint256 owed = uint256(-int256(delta));
        if (currency == address(0)) {
            manager.settle{value: owed}();
        } else {
            manager.sync(currency);
            Token(currency).transfer(address(manager), owed);
            manager.settle();
        }
    }
}

interface IVault {
    struct JoinRequest {
        address[] assets;
        uint256[] maxAmountsIn;
        bytes userData;
        bool fromInternalBalance;
    }
    struct SingleSwap {
        bytes32 poolId;
        uint8 kind;
        address assetIn;
        address assetOut;
        uint256 amount;
        bytes userData;
    }
    struct Funds {
        address sender;
        bool fromInternalBalance;
        address recipient;
        bool toInternalBalance;
    }

    function joinPool(bytes32 id, address sender, address recipient, JoinRequest calldata request) external payable;
    function swap(SingleSwap calldata single, Funds calldata funds, uint256 limit, uint256 deadline)
        external
        payable
        returns (uint256);
    function getPoolTokens(bytes32 id) external view returns (address[] memory, uint256[] memory, uint256);
}

interface IVaultPool {
    function getPoolId() external view returns (bytes32);
}

/// A rate provider with a constant rate.
contract Rate {
    uint256 public getRate;

    constructor(uint256 rate) {
        getRate = rate;
    }
}

contract VaultHarness is Harness(4) {
    struct Hop {
        uint256 from;
        uint256 to;
        uint256 amountIn;
    }

    function setDecimals(uint8[] calldata decimals) external {
        for (uint256 i = 0; i < decimals.length; i++) tokens[i].setDecimals(decimals[i]);
    }

    /// Deploys rate providers in sequence, so that an eth_call returns the addresses of the following transaction.
    function rates(uint256[] calldata values) external returns (address[] memory providers) {
        providers = new address[](values.length);
        for (uint256 i = 0; i < values.length; i++) providers[i] = address(new Rate(values[i]));
    }

    /// `create` is the calldata with which the factory creates the pool. Amounts and token indexes exclude the pool token of a composable
    /// pool. With rates the initial balances may be one unit lower than `amounts`, because the vault rounds twice.
    function run(IVault vault, address factory, bytes calldata create, uint256[] calldata amounts, Hop[] calldata hops)
        external
        returns (uint256[] memory balances, uint256[] memory outputs)
    {
        (bool done, bytes memory result) = factory.call(create);
        require(done, "not created");
        address pool = abi.decode(result, (address));
        bytes32 id = IVaultPool(pool).getPoolId();
        join(vault, id, pool, amounts);
        balances = balancesOf(vault, id, pool, amounts.length);
        outputs = tradeAll(vault, id, hops);
    }

    function tradeAll(IVault vault, bytes32 id, Hop[] calldata hops) private returns (uint256[] memory outputs) {
        outputs = new uint256[](hops.length);
        for (uint256 i = 0; i < hops.length; i++) {
            try this.trade(vault, id, hops[i]) returns (uint256 out) {
                outputs[i] = out;
            } catch {}
        }
    }

    function balancesOf(IVault vault, bytes32 id, address pool, uint256 count)
        private
        view
        returns (uint256[] memory balances)
    {
        (address[] memory assets, uint256[] memory all, ) = vault.getPoolTokens(id);
        balances = new uint256[](count);
        uint256 next = 0;
        for (uint256 i = 0; i < assets.length; i++) if (assets[i] != pool) balances[next++] = all[i];
    }

    function join(IVault vault, bytes32 id, address pool, uint256[] calldata amounts) private {
        (address[] memory assets, , ) = vault.getPoolTokens(id);
        uint256[] memory all = new uint256[](assets.length);
        uint256[] memory most = new uint256[](assets.length);
        uint256 next = 0;
        for (uint256 i = 0; i < assets.length; i++) {
            most[i] = type(uint256).max;
            if (assets[i] != pool) all[i] = amounts[next++];
        }
        vault.joinPool(
            id, address(this), address(this), IVault.JoinRequest(assets, most, abi.encode(uint256(0), all), false)
        );
    }

    function trade(IVault vault, bytes32 id, Hop calldata hop) external returns (uint256) {
        IVault.SingleSwap memory single =
            IVault.SingleSwap(id, 0, address(tokens[hop.from]), address(tokens[hop.to]), hop.amountIn, "");
        IVault.Funds memory funds = IVault.Funds(address(this), false, address(this), false);
        uint256 out = vault.swap(single, funds, 0, type(uint256).max);
        require(out > 0);
        return out;
    }
}
