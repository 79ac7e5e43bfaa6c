log = []
async def guarded(order):
    log.append(f"lock {order}")
    try:
        result = await set_status(order=order, status="checked")
        return result["status"]
    except ToolError as error:
        log.append(error.code)
        return None
    else:
        log.append("else")
    finally:
        log.append(f"unlock {order}")
        await increment(name="unlocks")

values = [await guarded("A-1"), await guarded("A-3"), await guarded("A-9")]
total = await increment(name="unlocks", by=0)
return {"values": values, "log": log, "total": total}
