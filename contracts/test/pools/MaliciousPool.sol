// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {SwapExecutor} from "../../src/SwapExecutor.sol";
import {SwapRouter} from "../../src/SwapRouter.sol";
import {IERC20} from "../../src/Transfers.sol";

/// @dev A second contract of the attacker: calls the executor's callback in place of the pool.
contract SecondCaller {
    function callBack(address executor, int256 amount) external {
        (bool success,) = executor.call(
            abi.encodeWithSignature("uniswapV3SwapCallback(int256,int256,bytes)", amount, amount, "")
        );
        require(success, "refused");
    }
}

/// @dev An attacker's pool that implements the interfaces of all kinds.
contract MaliciousPool {
    enum Attack {
        RequestMore,
        RequestOther,
        RequestTwice,
        RequestBySecondCaller,
        SkipCallback,
        Unlock,
        Reenter,
        LeaveAllowance
    }

    address private immutable a;
    address private immutable b;
    address private immutable attacker;
    SecondCaller private immutable secondCaller = new SecondCaller();
    Attack private attack;
    address private victim;
    SwapExecutor private executor;
    SwapRouter private router;
    uint256 public attempts;
    uint256 public succeeded;

    constructor(address a_, address b_, address attacker_) {
        (a, b, attacker) = (a_, b_, attacker_);
    }

    function set(Attack attack_, address victim_, SwapExecutor executor_, SwapRouter router_) external {
        (attack, victim, executor, router) = (attack_, victim_, executor_, router_);
    }

    function getReserves() external view returns (uint256, uint256, uint256) {
        uint256 reserve = IERC20(a).balanceOf(address(this)) - 1;
        return (reserve, reserve, 0);
    }

    function getAmountOut(uint256, address) external pure returns (uint256) {
        return 1;
    }

    /// @dev Uniswap V2 and Solidly.
    function swap(uint256, uint256, address to, bytes calldata) external {
        execute(to, 0);
    }

    /// @dev Uniswap V3.
    function swap(address to, bool, int256 amount, uint160, bytes calldata) external returns (int256, int256) {
        execute(to, amount);
        return (amount, amount);
    }

    /// @dev Uniswap V4: acts as the PoolManager.
    function unlock(bytes calldata) external returns (bytes memory) {
        execute(attacker, 10e18);
        return "";
    }

    /// @dev Acts as an executor that does nothing.
    function executeSwapRoute(uint256[] calldata, address, address) external payable {}

    function exchange(int128, int128, uint256, uint256) external {
        execute(msg.sender, 0);
    }

    function swap(bool, address to) external {
        execute(to, 0);
    }

    fallback() external {
        // Balancer's `swap` and the PoolManager's functions called during `unlock`: returns 1.
        if (attack == Attack.LeaveAllowance) execute(msg.sender, 0);
        if (attack == Attack.Reenter) reenter();
        assembly {
            mstore(0, 1)
            return(0, 32)
        }
    }

    function execute(address to, int256 amount) private {
        if (attack == Attack.RequestMore) callBack(amount + 1, -1, abi.encode(victim, a));
        if (attack == Attack.RequestOther) callBack(-1, 1e18, abi.encode(b, victim, 1e18));
        if (attack == Attack.RequestTwice) {
            callBack(amount, -1, "");
            callBack(amount, -1, "");
        }
        if (attack == Attack.RequestBySecondCaller) secondCaller.callBack(address(executor), amount);
        if (attack == Attack.Unlock) {
            executor.unlockCallback(abi.encode(b, uint256(0), attacker));
            executor.unlockCallback(abi.encode(b, uint256(0), attacker));
        }
        if (attack == Attack.Reenter) reenter();
        // Pay some output, so that the swap does not revert on the router's minimum.
        (bool minted,) = b.call(abi.encodeWithSignature("mint(address,uint256)", to, 1e18));
        require(minted);
    }

    function callBack(int256 amount0, int256 amount1, bytes memory data) private {
        (bool success, bytes memory reason) = msg.sender.call(
            abi.encodeWithSignature("uniswapV3SwapCallback(int256,int256,bytes)", amount0, amount1, data)
        );
        if (!success) {
            assembly ("memory-safe") {
                revert(add(reason, 32), mload(reason))
            }
        }
    }

    function reenter() private {
        attempts++;
        uint256[] memory sweepRoute = new uint256[](2);
        sweepRoute[0] = 1;
        SwapRouter.Swap memory s;
        (s.tokenIn, s.tokenOut, s.amountIn, s.minOut) = (a, b, 1, 1);
        // With an executor that does nothing, the router's current balance would count as output.
        (s.recipient, s.executor, s.deadline) = (attacker, address(this), block.timestamp);
        (s.feeTo, s.feePpm) = (attacker, 1);
        IERC20(a).approve(address(router), 1);
        address[2] memory tokens = [a, b];
        for (uint256 i = 0; i < 2; i++) {
            sweepRoute[1] = uint256(uint160(tokens[i]));
            try executor.executeSwapRoute(sweepRoute, attacker, attacker) {
                succeeded++;
            } catch {}
        }
        try router.swap(s, sweepRoute) {
            succeeded++;
        } catch {}
    }
}

/// @dev An executor that the attacker controls.
contract MaliciousExecutor {
    uint256 public constant ATTACKS = 5;
    address private immutable victim;
    address private immutable attacker;
    address private immutable a;
    address private immutable b;
    SwapRouter private immutable router;
    uint256 private attack;

    constructor(address victim_, address attacker_, address a_, address b_, SwapRouter router_) {
        (victim, attacker, a, b, router) = (victim_, attacker_, a_, b_, router_);
    }

    function set(uint256 attack_) external {
        attack = attack_;
    }

    function executeSwapRoute(uint256[] calldata route, address, address) external payable {
        if (attack == 0) IERC20(a).transferFrom(victim, attacker, 1e18);
        if (attack == 1) {
            SwapRouter.Swap memory s;
            (s.tokenIn, s.tokenOut, s.amountIn, s.minOut) = (a, b, 1e18, 1);
            (s.recipient, s.executor, s.deadline) = (attacker, address(this), block.timestamp);
            router.swap(s, route);
        }
        // 1inch Fusion v1: malformed calldata with offsets out of bounds.
        if (attack == 2) {
            (bool success,) = address(router).call(abi.encodePacked(SwapRouter.swap.selector, type(uint256).max, victim));
            require(success, "refused");
        }
        if (attack == 3) {
            (bool success,) = address(router).call{value: address(this).balance}("");
            require(success, "refused");
        }
        // Keeps the input and pays nothing; the minimum reverts the swap.
        require(attack != 4 || IERC20(a).balanceOf(address(this)) > 0);
    }
}

/// @dev Holds allowances, as Permit2 does.
contract Permit2Like {
    mapping(address owner => mapping(address token => mapping(address spender => bool))) public allowed;

    function allow(address owner, address token, address spender) external {
        allowed[owner][token][spender] = true;
    }

    function transferFrom(address from, address to, uint160 amount, address token) external {
        require(allowed[from][token][msg.sender], "not allowed");
        IERC20(token).transferFrom(from, to, amount);
    }
}
